// The buyer's page (spec 13.3), opened by a link: /p#TOKEN. The text after # reaches no log. Follows the delivery by the
// service's events, and polls where those do not arrive.
import '../theme/tokens.css';
import './buyer.css';
import { looksLikeMail, plainUsername } from '@/vocabulary/username';
import { api, type Answer, type BuyerDelivery } from './api';
import { follow } from './live';
import { texts, titleOf } from './texts';
import { fresh, loadingPage, pageOf, plainPage, type Acts, type Local, type Plain } from './view';

const SOON_MS = 5_000;
const LATER_MS = 30_000;
const LONGEST_MS = 120_000;
const FIRST_RETRY_MS = 1_000; // to hear again, twice as long each time
const LAST_RETRY_MS = 60_000;
// States in which the delivery moves by itself within seconds.
const MOVING: ReadonlySet<string> = new Set(['on_its_way', 'accept_request']);

const root = document.getElementById('page') as HTMLElement;
const announcer = document.getElementById('announcer') as HTMLElement;

let token = location.hash.slice(1);
let delivery: BuyerDelivery | null = null;
let local: Local = fresh();
let page: Plain | null = null; // while there is no delivery to show; null: it is loading
let pause = SOON_MS;
let timer = 0;
let shown: Node | null = null;

// The focused element, by marks to find it again: its id, or its kind and words.
function placeOf(it: Element | null): (() => HTMLElement | null) | null {
  if (!it || !root.contains(it)) return null;
  const { id, tagName, textContent } = it;
  return () => {
    const same = [...root.querySelectorAll<HTMLElement>(tagName)].find((one) => one.textContent === textContent);
    return document.getElementById(id) ?? (tagName === 'INPUT' ? null : same) ?? root.querySelector('h1');
  };
}

// Paints the changes. The focused element keeps the focus, or leaves it to the heading, and typed text stays.
function paint() {
  const now = new Date();
  const next = delivery ? pageOf(delivery, local, acts, now) : page ? plainPage(page, now) : loadingPage();
  if (shown?.isEqualNode(next)) return;
  const focused = document.activeElement;
  const place = placeOf(focused);
  const selection = focused instanceof HTMLInputElement ? [focused.selectionStart, focused.selectionEnd] : null;
  shown = next.cloneNode(true);
  root.replaceChildren(next);
  const again = place?.();
  again?.focus();
  if (again instanceof HTMLInputElement && selection)
    again.setSelectionRange(selection[0] ?? null, selection[1] ?? null);
  document.title = delivery ? titleOf(delivery) : texts.unknown.title;
}

function take(answer: Answer) {
  switch (answer.kind) {
    case 'delivery': {
      const before = delivery;
      delivery = answer.delivery;
      local.offline = false;
      if (before && before.state !== delivery.state) {
        local = fresh();
        paint();
        const title = root.querySelector('h1');
        announcer.textContent = title?.textContent ?? '';
      }
      pause = MOVING.has(delivery.state) ? SOON_MS : LATER_MS;
      void listen();
      break;
    }
    case 'gone':
      page = texts.gone;
      delivery = null;
      deafen();
      break;
    case 'wait':
      if (!delivery)
        page = { title: texts.unknown.title, text: texts.goesOn, until: Date.now() + answer.seconds * 1000 };
      pause = answer.seconds * 1000;
      break;
    case 'invalid':
    case 'refused':
    case 'away':
      if (delivery) local.offline = true;
      else page = texts.away;
      pause = Math.min(pause * 2, LONGEST_MS);
      break;
  }
  paint();
}

// How long until it is asked again. Who hears of each change asks seldom, only lest one is lost.
function later() {
  clearTimeout(timer);
  if (page === texts.gone) return;
  timer = window.setTimeout(() => void look(), document.hidden || hearing ? LONGEST_MS : pause);
}

let looking = false;
let missed = false; // it changed while it was asked for
async function look() {
  if (looking || local.busy) {
    missed = true;
    return;
  }
  looking = true;
  missed = false;
  const asked = token;
  const answer = asked === '' ? ({ kind: 'gone' } as const) : await api.show(asked);
  looking = false;
  if (asked !== token) return void look();
  if (!local.busy) take(answer);
  if (missed && answer.kind === 'delivery') return void look();
  later();
}

let hearing = false;
let listening: AbortController | null = null;
let lastId = '';

// Hears of changes while the page is looked at.
async function listen() {
  if (listening || token === '' || document.hidden) return;
  const mine = (listening = new AbortController());
  let retry = FIRST_RETRY_MS;
  while (!mine.signal.aborted && page !== texts.gone) {
    const began = Date.now();
    await follow(token, lastId, mine.signal, {
      open: () => {
        hearing = true;
        later();
      },
      changed: () => void look(),
      id: (id) => {
        lastId = id;
      },
    });
    if (mine.signal.aborted) return;
    if (hearing) void look(); // what was missed since, or that there is no connection
    hearing = false;
    if (Date.now() - began > LAST_RETRY_MS) retry = FIRST_RETRY_MS;
    await new Promise((resolve) => setTimeout(resolve, retry * (0.5 + Math.random())));
    retry = Math.min(retry * 2, LAST_RETRY_MS);
  }
  if (listening === mine) listening = null;
}
function deafen() {
  listening?.abort();
  listening = null;
  hearing = false;
}

async function act(call: (token: string) => Promise<Answer>) {
  if (local.busy) return;
  local.busy = true;
  local.problem = null;
  paint();
  const answer = await call(token);
  local.busy = false;
  if (answer.kind === 'delivery') {
    local = fresh();
    pause = SOON_MS;
  } else if (answer.kind === 'wait') {
    local.problem = texts.tooOften(answer.seconds);
  } else if (answer.kind === 'invalid') {
    local.problem = texts.where.invalid;
    local.confirming = null;
  } else if (answer.kind === 'refused') {
    local.problem = answer.message;
  } else if (answer.kind === 'away') {
    local.problem = texts.away.text;
  }
  if (answer.kind === 'delivery' || answer.kind === 'gone') {
    take(answer);
  } else {
    paint();
    // To where it is mended, or tried again.
    (
      document.getElementById('username') ??
      root.querySelector<HTMLElement>('button.primary') ??
      root.querySelector<HTMLElement>('button.retry')
    )?.focus();
  }
  if (missed) void look();
  else later();
}

const typed = () => plainUsername(local.draft ?? delivery?.username ?? '');

const acts: Acts = {
  // The field holds it already: painting it again would move the cursor.
  type: (draft) => {
    local.draft = draft;
    local.problem = null;
  },
  submit: () => {
    const name = typed();
    if (name === '') local.problem = texts.where.empty;
    else if (looksLikeMail(name)) local.problem = texts.where.email;
    else if (local.changing) local.confirming = name;
    else return void act((asked) => api.correct(asked, name));
    paint();
    document.getElementById('username')?.focus();
  },
  confirm: () => {
    const name = local.confirming;
    if (name !== null) void act((asked) => api.correct(asked, name));
  },
  change: (open) => {
    local = { ...fresh(), changing: open, offline: local.offline };
    paint();
    document.getElementById(open ? 'username' : 'page')?.focus();
  },
  retry: () => void act(api.retry),
};

addEventListener('hashchange', () => {
  token = location.hash.slice(1);
  delivery = null;
  local = fresh();
  page = null;
  lastId = '';
  deafen();
  paint();
  void look();
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return deafen();
  void look();
});
for (const change of ['online', 'offline']) addEventListener(change, () => void look());
// Seconds that are counted down.
setInterval(() => {
  if (root.querySelector('[data-ticks]')) paint();
}, 1000);

paint();
void look();
