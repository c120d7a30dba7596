// All words of the buyer's page.
import { isolated } from '@/i18n/outside';
import type { BuyerDelivery } from './api';

const DAY_MS = 86_400_000;

export function when(iso: string, now: Date): string {
  const at = new Date(iso);
  const time = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }).format(at);
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / DAY_MS);
  if (days === 0) return `today at ${time}`;
  if (days === 1) return `yesterday at ${time}`;
  return `on ${new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long' }).format(at)}`;
}

export const platformOf = ({ cloud }: BuyerDelivery) => cloud.name ?? 'the cloud platform';
export const orderOf = ({ orderNumber }: BuyerDelivery) =>
  orderNumber ? `Order ${isolated(orderNumber.startsWith('#') ? orderNumber : `#${orderNumber}`)}` : 'Your order';
export const titleOf = (it: BuyerDelivery) => `${orderOf(it)} · ${isolated(it.merchantName)}`;

export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  return words
    .slice(0, 2)
    .map((word) => [...word][0]?.toLocaleUpperCase() ?? '')
    .join('');
}

export const kindOf = (kind: string) => {
  const known: Record<string, string> = { preset: 'Preset', capture: 'Capture', ir: 'IR' };
  return known[kind] ?? kind;
};

// A sentence that ends with a name, which may end with a full stop itself.
const ending = (words: string) => (/[.!?]\u2069?$/.test(words) ? words : `${words}.`);

export const texts = {
  loading: 'Loading your order',
  onItsWay: {
    title: 'Your presets are on their way',
    text: 'Usually less than a minute. You can close this page.',
    late: (time: string) => `It goes on ${time} or a little later. You can close this page.`,
    asked: (sender: string, platform: string) => `If @${sender} sends you a friend request on ${platform}, accept it.`,
  },
  where: {
    title: 'Where should we send your presets?',
    missing: 'Tell us your username',
    now: ', and we send them right away.',
    notFound: (platform: string) => ({
      before: 'We could not find ',
      after: ` on ${platform}. Check your username`,
      now: ' and we try again right away.',
    }),
    closedTo: (merchant: string) => ending(`You can no longer change this here. Write to ${merchant}`),
    label: 'Your cloud username',
    help: 'You find it on your profile in the app, under your picture. It is not your e-mail address.',
    button: 'Send my presets',
    sending: 'Sending…',
    empty: 'Type your username.',
    invalid: 'That is not a username. Look it up on your profile.',
    email: 'That looks like an e-mail address. Type the username of your profile.',
  },
  accept: {
    title: 'One step left: accept our friend request',
    text: (platform: string) => `Your presets are ready. To send them, we have to be friends on ${platform}.`,
    first: 'Open your device’s cloud app or website',
    second: { before: 'Go to ', friends: 'Friends', between: ', then ', requests: 'Requests' },
    third: 'Accept',
    open: 'Open friend requests',
    waiting: 'Waiting for you',
    sent: (time: string) => `Sent ${time}.`,
    updates: 'This page updates by itself.',
  },
  sentTo: 'Sent to',
  yours: 'Your username',
  goesTo: 'Goes to',
  notYou: 'Not you?',
  change: {
    title: 'Who are you on the platform?',
    button: 'Change username',
    cancel: 'Cancel',
    keep: (old: string) => `Keep @${old}`,
    ask: (next: string, old: string) => `Send it to @${next} instead? The request to @${old} is withdrawn.`,
    yes: (next: string) => `Send to @${next}`,
  },
  unreached: {
    title: 'We could not reach you',
    declined: (sender: string) => `The friend request from ${sender} was declined.`,
    noAnswer: (sender: string) => `The friend request from ${sender} was not accepted in time.`,
    blocked: (sender: string) => `Your account blocks ${sender}. First, lift the block in the app.`,
    again: 'Try again, and accept the new request.',
    then: 'Then try again here, and accept the new request.',
    button: 'Try again',
    trying: 'Trying…',
    ask: (merchant: string) => `Write to ${merchant}: they can send it once more.`,
  },
  delivered: {
    title: 'Enjoy your presets',
    text: (merchant: string) =>
      `Look in the app, among the files that others share with you. ${ending(`Not there? Ask ${merchant}`)}`,
    byHand: (merchant: string) => `${merchant} gave them to you another way.`,
    open: 'Open the app',
  },
  delayed: { title: 'A small delay', text: (merchant: string) => `${merchant} knows about it. Nothing for you to do.` },
  closed: { title: 'This order was closed', text: 'Nothing more is sent.' },
  gone: { title: 'This link no longer works', text: 'Ask the shop for a new one.' },
  away: {
    title: 'We cannot reach our service',
    text: 'Check your connection. This page tries again by itself.',
    stale: 'No connection. This page tries again by itself.',
  },
  unknown: { title: 'Your order', text: 'This page is older than the service. Load it again.' },
  list: 'What you get',
  got: 'What you got',
  ordered: 'What you ordered',
  delivered1: 'Delivered',
  takenBack: 'Taken back',
  test: 'Test order. Nothing is sent.',
  questions: 'Questions?',
  write: (merchant: string) => `Write to ${merchant}`,
  askShop: (merchant: string) => ending(`Ask ${merchant}`),
  foot: 'Preset Delivery Bridge',
  footDelivered: 'Delivered with Preset Delivery Bridge',
  again: (seconds: number) => `Possible again in ${seconds} s`,
  goesOn: (seconds: number) => `That was too fast. This page goes on by itself in ${seconds} s.`,
  tooOften: (seconds: number) => `That was too fast. Try again in ${seconds} s.`,
};
