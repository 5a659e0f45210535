import { defineConfig } from 'rolldown';

// The libraries are bundled, so that an installed forge has no dependencies and starts fast; what the code imports
// lazily stays a chunk of its own.
export default defineConfig({
  input: { main: 'src/app/main.ts' },
  platform: 'node',
  external: /^node:/,
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: true,
    sourcemap: false,
  },
});
