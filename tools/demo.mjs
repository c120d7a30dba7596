// ./dev run [--once]: the bridge in sandbox mode beside a simulated cloud platform and a simulated payment processor. It opens on a month
// of a merchant's deliveries (demo/show.mjs), and orders keep coming. With --once it is a short check instead (demo/check.mjs), and the
// exit code says whether all arrived.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { DEADLINE_MS, check } from '../demo/check.mjs';
import { FOLDER, START_MS, fail, limited, lockFolder, say, stopAll } from '../demo/programs.mjs';
import { show, trickle } from '../demo/show.mjs';

async function main() {
  const once = process.argv[2] === '--once';
  if (process.argv.length > 3 || (process.argv[2] && !once)) {
    console.error('usage: ./dev run [--once]');
    process.exit(2);
  }
  const { PRESETBRIDGE_BIN, CLOUDSIM_BIN, PAYSIM_BIN, DEMO_PAST_BIN } = process.env;
  if (!PRESETBRIDGE_BIN || !CLOUDSIM_BIN || !PAYSIM_BIN || !DEMO_PAST_BIN) {
    console.error('demo: run it as ./dev run, which builds the programs first');
    process.exit(2);
  }
  let interrupted;
  const interruption = new Promise((resolve) => (interrupted = resolve));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupted);
  await lockFolder();
  await rm(FOLDER, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(FOLDER, { recursive: true });
  // Not the folder of an earlier run: the programs of one that was killed may still be ending.
  const dataDir = path.join(FOLDER, `data-${process.pid}`);
  say(
    'Preset Delivery Bridge: a demonstration. The cloud platform and the bank here are SIMULATORS; nothing leaves this machine.\n',
  );
  const work = (once ? check : show)(dataDir).then((result) => result ?? 'done');
  const done = await Promise.race([
    limited('the demonstration', DEADLINE_MS + START_MS, work),
    interruption.then(() => undefined),
  ]);
  if (!done) {
    process.exitCode = 1;
  } else if (!once) {
    await Promise.race([trickle(done), interruption]);
    say('\nStopping.');
  }
  await stopAll();
  process.exit(process.exitCode ?? 0);
}

main().catch((error) => fail(error.message));
