import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An agent CLI that is tried as its maker publishes it. */
export interface TestedAgent {
  /** The executor that runs it. */
  readonly kind: 'claude' | 'codex' | 'gemini' | 'opencode';
  readonly title: string;
  readonly package: string;
  readonly version: string;
  /** The package's own step after the installation, where it has one: it puts a binary of the registry in place. */
  readonly postinstall?: string;
  readonly protocol: string;
  /** Named where the CLI would otherwise ask a model which model to ask. */
  readonly model?: string;
  /** Points it at our model, in a home of its own; what it needs in its environment for that. */
  setUp(place: { readonly home: string; readonly url: string }): Promise<Readonly<Record<string, string>>>;
}

/** Versions are exact, so that a run can be repeated. */
export const AGENTS: readonly TestedAgent[] = [
  {
    kind: 'claude',
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    postinstall: 'install.cjs',
    protocol: 'stream-json control protocol',
    setUp: async ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'a-key-for-the-script',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // It would try for minutes before it tells of a limit.
      CLAUDE_CODE_MAX_RETRIES: '1',
    }),
  },
  {
    kind: 'codex',
    title: 'Codex',
    package: '@openai/codex',
    version: '0.166.0',
    protocol: 'app-server',
    async setUp({ home, url }) {
      const folder = join(home, '.codex');
      const config = [
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        'check_for_update_on_startup = false',
        '[features]',
        'plugins = false',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "CODEX_SCRIPTED_KEY"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
      ];
      await writeTo(folder, 'config.toml', `${config.join('\n')}\n`);
      return { CODEX_HOME: folder, CODEX_SCRIPTED_KEY: 'a-key-for-the-script' };
    },
  },
  {
    kind: 'gemini',
    title: 'Gemini CLI',
    package: '@google/gemini-cli',
    version: '0.61.0',
    protocol: 'ACP',
    model: 'gemini-2.5-flash',
    async setUp({ home, url }) {
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      };
      await writeTo(join(home, '.gemini'), 'settings.json', JSON.stringify(settings));
      return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'a-key-for-the-script' };
    },
  },
  {
    kind: 'opencode',
    title: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    postinstall: 'postinstall.mjs',
    protocol: 'ACP',
    setUp: async ({ url }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            name: 'scripted',
            options: { baseURL: `${url}/v1`, apiKey: 'a-key-for-the-script' },
            models: { model: { name: 'model' } },
          },
        },
        model: 'scripted/model',
        small_model: 'scripted/model',
      }),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
  },
];

async function writeTo(folder: string, file: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, file), text);
}
