// The buyer's view of a delivery: one state at a time (spec 13.3).
import { isolated } from '@/i18n/outside';
import type { BuyerDelivery } from './api';
import { element, icon, nameOf, type Child } from './dom';
import { initialsOf, kindOf, orderOf, platformOf, texts, when } from './texts';

// Typed text, questions and requests under way, beside the service's data.
export interface Local {
  draft: string | null; // null: nothing was typed yet
  changing: boolean; // the field to change the username is open
  confirming: string | null; // a username that waits for a yes
  busy: boolean;
  problem: string | null; // of the last act
  offline: boolean;
}
export interface Acts {
  type: (draft: string) => void;
  submit: () => void;
  confirm: () => void;
  change: (open: boolean) => void;
  retry: () => void;
}

export const fresh = (): Local => ({
  draft: null,
  changing: false,
  confirming: null,
  busy: false,
  problem: null,
  offline: false,
});

// The address of a web page, or nothing: an address may hold a script.
function safeLink(address: string | null | undefined): string | null {
  if (!address) return null;
  try {
    const url = new URL(address);
    return ['https:', 'http:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function mailLink(address: string | null | undefined): string | null {
  const [, user, host] = /^([^@\s]+)@([^@\s]+)$/.exec(address ?? '') ?? [];
  return user && host ? `mailto:${encodeURIComponent(user)}@${encodeURIComponent(host)}` : null;
}
const outside = (href: string, className: string, ...children: Child[]) =>
  element('a', { href, class: className, target: '_blank', rel: 'noopener noreferrer' }, ...children);

const heading = (title: string) => element('h1', { tabindex: '-1' }, title);
const paragraph = (...children: Child[]) => element('p', { class: 'lead' }, ...children);

const secondsUntil = (iso: string | null, now: Date) =>
  iso ? Math.max(0, Math.ceil((Date.parse(iso) - now.getTime()) / 1000)) : 0;

function form(it: BuyerDelivery, local: Local, acts: Acts, now: Date, button: string): HTMLElement {
  const wait = secondsUntil(it.canActAt, now);
  return element(
    'form',
    {
      novalidate: true,
      submit: (event) => {
        event.preventDefault();
        acts.submit();
      },
    },
    element('label', { for: 'username' }, texts.where.label),
    element(
      'div',
      { class: 'field' },
      element('span', { 'aria-hidden': 'true' }, '@'),
      element('input', {
        id: 'username',
        name: 'username',
        value: local.draft ?? it.username ?? '',
        maxlength: '1000',
        autocomplete: 'username',
        autocapitalize: 'none',
        autocorrect: 'off',
        spellcheck: 'false',
        enterkeyhint: 'send',
        'aria-describedby': local.problem ? 'username-problem username-help' : 'username-help',
        'aria-invalid': local.problem ? 'true' : undefined,
        input: (event) => acts.type((event.target as HTMLInputElement).value),
      }),
    ),
    local.problem && element('p', { id: 'username-problem', class: 'problem', role: 'alert' }, local.problem),
    element('p', { id: 'username-help', class: 'help' }, texts.where.help),
    element(
      'button',
      { class: 'primary', disabled: local.busy || wait > 0 },
      local.busy ? texts.where.sending : button,
    ),
    wait > 0 && element('p', { class: 'help', 'data-ticks': true }, texts.again(wait)),
  );
}

// Whom it is sent to, and the way to change that.
function recipient(it: BuyerDelivery, local: Local, acts: Acts, now: Date, label: string): Child[] {
  if (!it.username) return [];
  const next = local.confirming;
  if (next !== null) {
    return [
      element(
        'div',
        { class: 'box', role: 'group', 'aria-label': texts.change.title },
        element('p', {}, texts.change.ask(isolated(next), isolated(it.username))),
        local.problem && element('p', { class: 'problem', role: 'alert' }, local.problem),
        element(
          'button',
          { class: 'primary', disabled: local.busy, click: acts.confirm },
          local.busy ? texts.where.sending : texts.change.yes(isolated(next)),
        ),
        element(
          'button',
          { class: 'secondary wide', disabled: local.busy, click: () => acts.change(false) },
          texts.change.keep(isolated(it.username)),
        ),
      ),
    ];
  }
  if (local.changing && it.canCorrect) {
    return [
      element(
        'div',
        { class: 'box' },
        form(it, local, acts, now, texts.change.button),
        element('button', { class: 'secondary wide', click: () => acts.change(false) }, texts.change.cancel),
      ),
    ];
  }
  return [
    element(
      'div',
      { class: 'recipient' },
      element('div', {}, element('span', { class: 'small' }, label), nameOf(`@${it.username}`)),
      it.canCorrect &&
        element('button', { class: 'secondary', click: () => acts.change(true) }, icon('pen'), texts.notYou),
    ),
  ];
}

// The one filled button: while a question is open, that is in the question.
const isAsked = (it: BuyerDelivery, { confirming, changing }: Local) =>
  it.username !== null && (confirming !== null || (changing && it.canCorrect));
const filled = (it: BuyerDelivery, local: Local) => (isAsked(it, local) ? 'secondary wide' : 'primary');

function acceptRequest(it: BuyerDelivery, local: Local, acts: Acts, now: Date): Child[] {
  const { second } = texts.accept;
  const open = safeLink(it.cloud.friendRequestsUrl);
  return [
    heading(texts.accept.title),
    paragraph(texts.accept.text(platformOf(it))),
    element(
      'ol',
      { class: 'steps' },
      element('li', {}, element('span', {}, texts.accept.first)),
      element(
        'li',
        {},
        element(
          'span',
          {},
          second.before,
          element('strong', {}, second.friends),
          second.between,
          element('strong', {}, second.requests),
        ),
      ),
      element(
        'li',
        {},
        element(
          'span',
          {},
          `${texts.accept.third} `,
          it.senderUsername ? element('span', { class: 'chip' }, icon('person'), nameOf(it.senderUsername)) : '',
        ),
      ),
    ),
    open !== null && outside(open, filled(it, local), texts.accept.open, icon('out')),
    element(
      'div',
      { class: 'notice' },
      icon('clock'),
      element(
        'div',
        {},
        element('strong', {}, texts.accept.waiting),
        element(
          'p',
          {},
          [
            it.requestedAt ? texts.accept.sent(when(it.requestedAt, now)) : '',
            local.offline ? '' : texts.accept.updates, // it says above that there is no connection
          ]
            .filter(Boolean)
            .join(' '),
        ),
      ),
    ),
    ...recipient(it, local, acts, now, texts.sentTo),
  ];
}

function unreached(it: BuyerDelivery, local: Local, acts: Acts, now: Date, text: (sender: string) => string): Child[] {
  const wait = secondsUntil(it.canActAt, now);
  const blocked = it.state === 'blocked';
  // The block is lifted there, before anything else.
  const app = blocked && it.canRetry ? safeLink(it.cloud.appUrl) : null;
  return [
    heading(texts.unreached.title),
    paragraph(
      text(it.senderUsername ?? it.merchantName),
      it.canRetry ? ` ${texts.unreached[blocked ? 'then' : 'again']}` : '',
    ),
    local.problem &&
      !local.changing &&
      local.confirming === null &&
      element('p', { class: 'problem', role: 'alert' }, local.problem),
    app !== null && outside(app, filled(it, local), texts.delivered.open, icon('out')),
    it.canRetry
      ? element(
          'button',
          {
            class: app === null ? filled(it, local) : 'secondary wide retry',
            disabled: local.busy || wait > 0,
            click: acts.retry,
          },
          local.busy ? texts.unreached.trying : texts.unreached.button,
        )
      : paragraph(texts.unreached.ask(it.merchantName)),
    it.canRetry && wait > 0 && element('p', { class: 'help', 'data-ticks': true }, texts.again(wait)),
    ...recipient(it, local, acts, now, blocked ? texts.yours : texts.sentTo),
  ];
}

function where(it: BuyerDelivery, local: Local, acts: Acts, now: Date): Child[] {
  const notFound = texts.where.notFound(platformOf(it));
  const soon = secondsUntil(it.canActAt, now) === 0;
  return [
    heading(texts.where.title),
    it.state === 'username_not_found' && it.username
      ? paragraph(notFound.before, nameOf(it.username, 'strong'), notFound.after, soon ? notFound.now : '.')
      : paragraph(texts.where.missing, soon ? texts.where.now : '.'),
    it.canCorrect ? form(it, local, acts, now, texts.where.button) : paragraph(texts.where.closedTo(it.merchantName)),
  ];
}

// Nothing is shared without a username. With one, the merchant may have given the files by hand too, which the service does not say here.
function delivered(it: BuyerDelivery): Child[] {
  const byHand = it.username === null && !it.dryRun;
  const open = byHand ? null : safeLink(it.cloud.appUrl);
  return [
    heading(texts.delivered.title),
    paragraph(texts.delivered[byHand ? 'byHand' : 'text'](it.merchantName)),
    open !== null && outside(open, 'primary', texts.delivered.open, icon('out')),
  ];
}

function body(it: BuyerDelivery, local: Local, acts: Acts, now: Date): Child[] {
  switch (it.state) {
    case 'on_its_way':
      return [
        heading(texts.onItsWay.title),
        paragraph(
          secondsUntil(it.startsAt, now) > 0 ? texts.onItsWay.late(when(it.startsAt ?? '', now)) : texts.onItsWay.text,
          // A test asks nobody.
          it.senderUsername && !it.dryRun ? ` ${texts.onItsWay.asked(it.senderUsername, platformOf(it))}` : '',
        ),
        ...recipient(it, local, acts, now, texts.goesTo),
      ];
    case 'username_missing':
    case 'username_not_found':
      return where(it, local, acts, now);
    case 'accept_request':
      return acceptRequest(it, local, acts, now);
    case 'declined':
      return unreached(it, local, acts, now, texts.unreached.declined);
    case 'no_answer':
      return unreached(it, local, acts, now, texts.unreached.noAnswer);
    case 'blocked':
      return unreached(it, local, acts, now, texts.unreached.blocked);
    case 'delivered':
      return delivered(it);
    case 'delayed':
      return [heading(texts.delayed.title), paragraph(texts.delayed.text(it.merchantName))];
    case 'closed':
      return [heading(texts.closed.title), paragraph(texts.closed.text)];
    default:
      return [heading(texts.unknown.title), paragraph(texts.unknown.text)];
  }
}

// Whether something came: nothing does of a test, or of an order that was closed before.
const hasSome = ({ dryRun, items }: BuyerDelivery) => !dryRun && items.some(({ status }) => status === 'delivered');

function list(it: BuyerDelivery): Child {
  if (it.items.length === 0) return null;
  const state = { on_its_way: null, delivered: texts.delivered1, taken_back: texts.takenBack } as const;
  return element(
    'section',
    {},
    element(
      'h2',
      {},
      it.state === 'closed' ? texts.ordered : it.state === 'delivered' && hasSome(it) ? texts.got : texts.list,
    ),
    element(
      'ul',
      { class: 'items' },
      ...it.items.map((item) =>
        element(
          'li',
          { class: item.status },
          icon(
            item.status === 'delivered'
              ? 'check'
              : item.status === 'taken_back'
                ? 'undo'
                : item.kind === 'capture'
                  ? 'capture'
                  : 'wave',
          ),
          nameOf(item.name),
          element(
            'span',
            { class: 'small' },
            kindOf(item.kind),
            state[item.status]
              ? element('span', { class: item.status === 'delivered' ? 'unseen' : '' }, ` · ${state[item.status]}`)
              : '',
          ),
        ),
      ),
    ),
  );
}

// Where the merchant wants to be asked: their page, else their e-mail; else by the shop's own ways.
function questions(it: BuyerDelivery): Child {
  const link = safeLink(it.supportUrl) ?? mailLink(it.supportEmail);
  const write = element('bdi', {}, texts.write(it.merchantName));
  return link === null
    ? element('p', {}, `${texts.questions} ${texts.askShop(it.merchantName)}`)
    : element('p', {}, `${texts.questions} `, outside(link, '', write));
}

// With the names that stand in sentences as they cannot turn them.
const inSentences = (it: BuyerDelivery): BuyerDelivery => ({
  ...it,
  merchantName: isolated(it.merchantName),
  senderUsername: it.senderUsername && isolated(it.senderUsername),
  cloud: { ...it.cloud, name: it.cloud.name && isolated(it.cloud.name) },
});

export function pageOf(delivery: BuyerDelivery, local: Local, acts: Acts, now: Date): HTMLElement {
  const it = inSentences(delivery);
  return element(
    'main',
    {},
    element(
      'header',
      {},
      element('span', { class: 'mark', 'aria-hidden': 'true' }, initialsOf(it.merchantName)),
      element('div', {}, nameOf(it.merchantName), element('span', { class: 'small' }, element('bdi', {}, orderOf(it)))),
    ),
    it.dryRun && element('p', { class: 'test' }, texts.test),
    local.offline && element('p', { class: 'test', role: 'status' }, texts.away.stale),
    ...body(it, local, acts, now),
    list(it),
    element(
      'footer',
      {},
      questions(it),
      element('p', { class: 'small' }, hasSome(it) ? texts.footDelivered : texts.foot),
    ),
  );
}

export const loadingPage = () => element('main', { 'aria-busy': 'true' }, heading(texts.loading));

// A page without a delivery: the link is of no use, or nothing can be reached.
export type Plain = { title: string; text: string | ((seconds: number) => string); until?: number };
export const plainPage = ({ title, text, until = 0 }: Plain, now: Date) =>
  element(
    'main',
    {},
    heading(title),
    typeof text === 'string'
      ? paragraph(text)
      : element(
          'p',
          { class: 'lead', 'data-ticks': true },
          text(Math.max(1, Math.ceil((until - now.getTime()) / 1000))),
        ),
  );
