// The demonstration that stays (./dev run): the bridge opens on a month of a merchant's deliveries, and orders keep trickling in.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FILES } from './catalogue.mjs';
import { Past } from './past.mjs';
import { Present } from './present.mjs';
import { listening, say, start, startBank, step } from './programs.mjs';
import { startReceivers } from './receivers.mjs';
import { DAYS, PACKS, Story } from './story.mjs';

const EMAIL = 'sam@marlowtones.example';
const SHORTEST_MS = 12_000; // between two orders
const LONGEST_MS = 50_000;
const FEW_CREDITS = 60;
// Cloud users who accept friend requests, for orders that a visitor makes up.
const FRIENDS = ['lena_hartvig', 'noor_offset', 'sam_plexi'];
// A merchant of the platform whose login nobody has saved: for a person who signs up to try the service.
const NOBODYS = {
  userId: 'm-nobodys',
  username: 'your_studio',
  email: 'you@cloud.example',
  password: 'you at the cloud',
};

// Fills the data folder with the month, and returns the story, which can go on, and the sign-in. The service may open the folder then.
export async function fill(
  program,
  dataDir,
  { receivers, seed = 1, password = `demo-${randomBytes(6).toString('hex')}` },
) {
  const ends = Date.now();
  const past = Past.begin(program, { dataDir, seed, start: ends - DAYS * 86_400_000, packs: PACKS });
  const story = new Story(past, { sign: { email: EMAIL, password }, receivers, seed, ends });
  await story.run();
  const world = await past.must('cloud', 'GET', '/sim/world');
  await past.end();
  return { story, world };
}

// Starts the service and its neighbours on the folder of fill(). `pace`: how fast it delivers; outside a demonstration a minute passes
// before the first sweep for an acceptance (spec 3.5).
export async function serve(
  { bridge, cloudsim, paysim },
  dataDir,
  { story, world },
  pace = ['--delivery-first-sweep-seconds', '10'],
) {
  const cloud = await listening(start('cloudsim', cloudsim, ['--port', '0']));
  const bank = await startBank(paysim, dataDir);
  const urls = { cloud, bank: bank.url };
  story.past = new Present(urls);
  await story.past.must('cloud', 'PUT', '/sim/world', world); // before the first request
  urls.bridge = await listening(
    start('presetbridge', bridge, [
      'serve',
      '--sandbox',
      '--data-dir',
      dataDir,
      '--listen',
      '127.0.0.1:0',
      '--cloud-url',
      cloud,
      '--payments-url',
      bank.url,
      '--credits-packs',
      PACKS.join(','),
      ...pace,
    ]),
  );
  await bank.sendTo(urls.bridge);
  return urls;
}

export async function show(dataDir) {
  const { PRESETBRIDGE_BIN: bridge, CLOUDSIM_BIN: cloudsim, PAYSIM_BIN: paysim, DEMO_PAST_BIN: program } = process.env;
  const receivers = await startReceivers();
  step(
    `receivers of outbound webhooks at ${new URL(receivers.urls.good).origin}: one is well, one is ill, two are gone`,
  );
  const filled = await fill(program, dataDir, { receivers: receivers.urls });
  step(`${DAYS} days of orders sent to the service on a clock set back`);
  const urls = await serve({ bridge, cloudsim, paysim }, dataDir, filled);
  await filled.story.past.must('cloud', 'POST', '/sim/merchants', { ...NOBODYS, files: FILES });
  for (const username of FRIENDS) await filled.story.customer(username, { answer: 'accept', delayMs: 5_000 });
  step(`presetbridge at ${urls.bridge}, in sandbox mode, with its data in ${path.relative('.', dataDir)}`);
  printWhatToTry(urls, filled.story, path.relative('.', bridge));
  return filled.story;
}

// Sends one order after the other, until the process ends. What a visitor changed may refuse one: an archived store, another password.
export async function trickle(story) {
  for (;;) {
    await delay(story.random.whole(SHORTEST_MS, LONGEST_MS));
    try {
      const { status, number, username } = await story.nextOrder();
      step(`order ${number} of ${username ?? 'a buyer without a username'}: ${status}`);
      if (await story.refill(FEW_CREDITS, 'studio')) step('500 credits bought at the simulated bank');
    } catch (error) {
      step(`no order this time: ${error.message}`);
    }
  }
}

function printWhatToTry(urls, story, bridge) {
  const { member, others } = story.made;
  const { refused, newcomer, poor } = others;
  const { club, shop } = story.made.stores;
  say(`
Still serving; Ctrl-C stops everything. A new order comes every half minute.

  The dashboard           ${urls.bridge}   (${story.sign.email}, password ${story.sign.password}; the API: ${urls.bridge}/docs)
  Others, same password   ${refused.email} (login refused), ${newcomer.email} (no cloud login), ${poor.email} (no credits),
                          ${member.email} (a member of the first account)
  Of your own sign-up     the cloud login “${NOBODYS.email}”, with the password “${NOBODYS.password}”
  Buyers who accept       ${FRIENDS.join(', ')}: usernames for orders of your own, after 5 seconds
  The SIMULATED platform  ${urls.cloud}   (what it did: ${urls.cloud}/sim/effects)
  The SIMULATED bank      ${urls.bank}   (what it took: ${urls.bank}/sim/books)
  Another order           ${bridge} send-order --provider ${club.provider} --url ${urls.bridge}/api/webhooks/${club.provider}/${club.id} \\
                            --secret ${club.secret} --username ${FRIENDS[0]} --sku CLUB-NOV
                          It may be some minutes in line: the platform takes 5 deliveries a minute of an account.
  One for a buyer whose
  username is missing     ${bridge} send-order --provider ${shop.provider} --url ${urls.bridge}/api/webhooks/${shop.provider}/${shop.id} \\
                            --secret ${shop.secret} --sku TWEED-59
                          It is accepted, fails as username_missing, and says what to do.
`);
}
