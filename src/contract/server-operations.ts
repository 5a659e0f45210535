import * as z from 'zod';
import { declare } from './declare.ts';

export const runServer = declare({
  name: 'server.run',
  summary: 'Serve the projects of this machine: REST, live events and MCP',
  about:
    'Serves the project around and every registered one, or those named by --project. The address comes from the flags, else from FORGE_HOST and FORGE_PORT, else from "server" in config.json of the Forge home, else it is 127.0.0.1:8080; a port that is taken gives way to the next free one. Every request needs a token: the first start makes one and says where it is. Ctrl-C or SIGTERM stops it. With --json it prints one line when it answers, and keeps running.',
  input: z.object({
    host: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[0-9A-Za-z.:_-]+$/, 'a host is a name or an address')
      .optional()
      .describe('Address to listen on (default: 127.0.0.1)'),
    port: z.int().min(0).max(65_535).optional().describe('Port to listen on; 0 picks one (default: 8080)'),
    projects: z
      .array(z.string().min(1))
      .max(100)
      .optional()
      .describe('Folder of a project to serve; may be given several times'),
    dispatch: z
      .boolean()
      .optional()
      .describe('Let agents work on whatever is ready; also "scheduler": {"enabled": true} in settings.json'),
    open: z.boolean().optional().describe('Open it in the browser'),
    tls_cert: z.string().min(1).optional().describe('Certificate for HTTPS, a PEM file'),
    tls_key: z.string().min(1).optional().describe('Its key, a PEM file'),
    allow_insecure_network: z
      .boolean()
      .optional()
      .describe('Listen beyond this machine without TLS: everybody on the way can read tokens'),
  }),
  output: z.object({ url: z.string(), pid: z.int(), token_file: z.string() }),
  errors: ['not_a_project', 'already_exists', 'io_failed', 'permission_denied'],
  access: 'admin',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['serve'],
    flags: {
      host: { placeholder: 'address' },
      projects: { flag: 'project', placeholder: 'path' },
      tls_cert: { placeholder: 'file' },
      tls_key: { placeholder: 'file' },
    },
    examples: ['forge serve', 'forge serve --port 0 --json', 'forge serve --project . --project ../backend'],
  },
});
