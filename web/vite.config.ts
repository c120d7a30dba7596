import react from '@vitejs/plugin-react';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { compressed } from './build/compressed';
import { mantineVariables } from './build/mantine_variables';
import { preloads } from './build/preloads';
import { pseudoLocale } from './build/pseudo_locale';

// Where a running service listens, for `npm run dev`.
const service = process.env.PRESETBRIDGE_URL ?? 'http://127.0.0.1:8080';

export default defineConfig(({ mode }) => ({
  plugins: [
    react(),
    mantineVariables(),
    preloads(/geist-latin-wght-normal.*\.woff2$/),
    mode === 'pseudo' ? pseudoLocale() : compressed(),
  ],
  resolve: { alias: { '@': path.resolve(import.meta.dirname, 'src') } },
  server: { proxy: { '/api': service, '/docs': service } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the policy of the page has no data: addresses
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    rolldownOptions: { input: ['index.html', 'p.html'] }, // the dashboard, and the buyer's page
  },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
}));
