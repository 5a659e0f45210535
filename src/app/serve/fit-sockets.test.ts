import { describe, expect, it } from 'vitest';
import { fitToOpenFiles, HTTP_LIMITS, WANTED_FILES } from '#surfaces/http/limits.ts';
import { fitSockets } from './fit-sockets.ts';

const fit = (open_files: number | undefined) => {
  const told: string[] = [];
  return { limits: fitSockets(open_files, (text) => told.push(text)), told };
};

describe('connections of a process that may open few files', () => {
  it.each([128, 256, 1_024, 4_096, 12_000, WANTED_FILES - 1])('leave files free out of %i', (open_files) => {
    const { limits, told } = fit(open_files);
    expect(limits.sockets).toBeGreaterThanOrEqual(8);
    expect(limits.sockets + limits.spare_sockets).toBeLessThanOrEqual(open_files - 64);
    const notice = expect.stringContaining(`may open ${open_files} files`);
    expect(told).toEqual(limits.sockets < 1_000 ? [notice] : []);
  });

  it('are as many as there may be where enough files are allowed', () => {
    expect(fit(WANTED_FILES)).toEqual({ limits: HTTP_LIMITS, told: [] });
    expect(fit(Infinity)).toEqual({ limits: HTTP_LIMITS, told: [] });
  });

  it('are bounded with care where the system does not tell', () => {
    const { limits, told } = fit(undefined);
    expect(limits).toEqual(fitToOpenFiles(10_240));
    expect(limits.sockets).toBeGreaterThan(9_000);
    expect(told).toEqual([]);
  });
});
