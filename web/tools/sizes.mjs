// The sizes of the build over the wire (brotli), against its budgets. Fails where one is passed.
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

const KB = 1024;
const BUDGETS = {
  'first page': 250 * KB,
  'script of it': 180 * KB,
  'any other page': 25 * KB,
  "buyer's page": 15 * KB,
};
const dist = path.resolve(import.meta.dirname, '../dist');

const wire = async (name) => (await stat(path.join(dist, `${name}.br`)).catch(() => stat(path.join(dist, name)))).size;
const sum = async (names) => (await Promise.all([...names].map(wire))).reduce((total, size) => total + size, 0);

const manifest = JSON.parse(await readFile(path.join(dist, '.vite/manifest.json'), 'utf8'));
const entry = manifest['index.html'];

// A chunk with its static imports, and their styles.
function closure(chunk, seen = new Set()) {
  if (seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const css of chunk.css ?? []) seen.add(css);
  for (const name of chunk.imports ?? []) closure(manifest[name], seen);
  return seen;
}

const frame = closure(entry);
// The pages: the dynamic imports of the router, which is in the entry. Parts that a page loads later are no pages.
const pages = entry.dynamicImports.filter((name) => name.startsWith('src/pages/'));
const HOME = 'src/pages/overview/Overview.tsx';
const FIRST = [HOME, 'src/pages/sign-in/SignIn.tsx', 'src/pages/sign-in/SignUp.tsx'];
const LATER = ['src/shell/PersonMenu.tsx', 'src/shell/ShortcutsDialog.tsx'];
const fonts = (await readdir(path.join(dist, 'assets')))
  .filter((name) => /^geist-latin-wght.*woff2$/.test(name))
  .map((name) => `assets/${name}`);
const around = await sum(['index.html', 'theme.js', ...fonts]);

const problems = [];
function tell(what, size, budget) {
  console.log(`${what.padEnd(40)} ${(size / KB).toFixed(1).padStart(7)} KB of ${budget / KB}`);
  if (size > budget) problems.push(what);
}
const home = closure(manifest[HOME], new Set(frame));
// The parts that the frame loads once the first page is drawn (src/shell/later.ts): they are loaded when another page is opened.
const later = LATER.reduce((seen, name) => closure(manifest[name], seen), new Set(home));
for (const name of pages) {
  const whole = closure(manifest[name], new Set(frame));
  const label = name.replace(/^src\/pages\/|\.tsx$/g, '');
  tell(`${label}: opened first`, (await sum(whole)) + around, BUDGETS['first page']);
  if (FIRST.includes(name))
    tell(
      `${label}: script of that`,
      await sum([...whole].filter((file) => file.endsWith('.js'))),
      BUDGETS['script of it'],
    );
  if (name !== HOME)
    tell(`${label}: gone to`, await sum([...whole].filter((file) => !later.has(file))), BUDGETS['any other page']);
}
console.log(
  `loaded once the first page is drawn      ${((await sum([...later].filter((file) => !home.has(file)))) / KB).toFixed(1).padStart(7)} KB`,
);
tell(
  "buyer's page, without its font",
  (await sum(closure(manifest['p.html']))) + (await sum(['p.html', 'theme.js'])),
  BUDGETS["buyer's page"],
);
if (problems.length > 0) {
  console.error(`over the budget: ${problems.join(', ')}`);
  process.exit(1);
}
