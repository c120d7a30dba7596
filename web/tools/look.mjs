// Takes pictures of every page of the dashboard (pages.mjs) in Chromium, in light and dark at three widths, and reports the findings of
// axe-core and the violations of the page's policy. Fails where there is one.
//   node tools/look.mjs --out FOLDER [--only NAME,NAME] [--widths 1440,360] [--schemes light] [--states none]
// With --readme it makes the pictures of the README instead, in docs/pictures.
// Without --url it brings the demonstration up, in a folder of its own (./dev screenshots); with --url, --email and --password it
// opens the pages of a running service that need nothing of the demonstration.
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { demonstration } from './demonstration.mjs';
import { Eyes } from './eyes.mjs';
import { pages, states } from './pages.mjs';
import { answer, press } from './presses.mjs';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    email: { type: 'string' },
    password: { type: 'string' },
    out: { type: 'string', default: 'build/screenshots' },
    only: { type: 'string', default: '' },
    widths: { type: 'string', default: '1440,1024,360' },
    schemes: { type: 'string', default: 'light,dark' },
    states: { type: 'string', default: states.join(',') },
    readme: { type: 'boolean', default: false },
  },
});
const only = options.only.split(',').filter(Boolean);
const NARROW = 820;

// The pages of one person, with their states, as {page, name, address, state, presses}.
function wanted(as, width, made) {
  const shown = pages.filter(
    (page) =>
      (page.as ?? 'sam') === as &&
      (width > NARROW ? !page.narrow : !page.wide) &&
      (!options.readme || page.readme === width) &&
      (made || typeof page.path === 'string'),
  );
  const all = shown.flatMap((page) => {
    const address = typeof page.path === 'string' ? page.path : page.path(made);
    const named = (state) => ({
      page,
      name: [page.name, state].filter(Boolean).join('--'),
      address,
      state,
      presses: state ? undefined : page.presses,
    });
    return [named(), ...(page.states && made && options.states !== 'none' ? options.states.split(',').map(named) : [])];
  });
  return all.filter(
    ({ name }) =>
      only.length === 0 || only.some((one) => name === one || (one.endsWith('*') && name.startsWith(one.slice(0, -1)))),
  );
}

if (options.readme)
  Object.assign(options, { out: 'docs/pictures', schemes: 'light', widths: '1440,390', states: 'none' });
const begun = performance.now();
await mkdir(options.out, { recursive: true });
const place = options.url
  ? { url: options.url, signs: { sam: { email: options.email, password: options.password } }, close: () => {} }
  : await demonstration();
const eyes = await Eyes.open(place.url, options.out);
let pictures = 0;
// All pages of one person in one scheme at one width.
async function lookAs(as, scheme, width) {
  const looks = wanted(as, width, place.made);
  if (looks.length === 0) return;
  let page = await eyes.visitor({ scheme, width, sign: place.signs[as] });
  for (const { page: of, name, address, state, presses } of looks) {
    const label = `${name}-${scheme}-${width}`;
    page.label = label;
    try {
      Object.assign(page, { expected: of.expected, framed: of.framed });
      await eyes.go(page, address, state, of.answers);
      if (of.later && !state) {
        page.troubled = 'later';
        await answer(page, of.later);
      }
      if (presses) await press(page, presses, { stays: of.stays, floats: of.floats });
      if (options.readme) await eyes.compressed(page, name);
      else await eyes.picture(page, label, { whole: !presses });
      await eyes.judge(page, label, { whole: !presses });
      pictures += 1;
    } catch (error) {
      eyes.findings.push(`${label}: ${error.message.split('\n').slice(0, 3).join(' ')}`);
    }
    // The visitor's clock was moved, or they are signed out: the next page needs another visitor.
    if (state === 'stale' || state === 'offline' || of.later) {
      await page.context().close();
      page = await eyes.visitor({ scheme, width, sign: place.signs[as] });
    }
  }
  await page.context().close();
}

try {
  const visits = options.schemes.split(',').flatMap((scheme) =>
    options.widths
      .split(',')
      .map(Number)
      .flatMap((width) => ['nobody', ...Object.keys(place.signs)].map((as) => [as, scheme, width])),
  );
  const worker = async () => {
    for (let visit = visits.shift(); visit; visit = visits.shift()) {
      await lookAs(...visit).catch((error) => eyes.findings.push(`${visit.join(' ')}: ${error.message}`));
    }
  };
  await Promise.all([worker(), worker(), worker()]);
} finally {
  await eyes.close();
  await place.close();
}
for (const finding of eyes.findings) console.error(finding);
console.log(
  `${pictures} pictures in ${options.out}, ${eyes.findings.length} findings, ${Math.round((performance.now() - begun) / 1000)} s`,
);
process.exit(eyes.findings.length > 0 ? 1 : 0);
