// The entries of the palette: pages, actions and results of the search, each with its link or its act.
import '@/i18n/en/palette';
import '@/i18n/en/orders';
import {
  IconBuildingStore,
  IconHistory,
  IconArrowRight,
  IconBolt,
  IconKey,
  IconMicrophone2,
  IconReceipt,
  IconWaveSine,
  IconWebhook,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { Shape, StatusIcon } from '@/components/StatusIcon';
import { t, type TextKey } from '@/i18n/text';
import { statusWord, word } from '@/vocabulary/delivery';
import { lookOfOutcome, outcomeWord } from '@/vocabulary/outcome';
import type { Recent } from '../recent';

export type Entry = {
  key: string;
  group: string;
  icon: ReactNode;
  title: string;
  subtitle?: string | null;
  state?: string;
  also?: string; // further words that find it
  former?: boolean; // found for the text that was typed before; shown until the results of the present text are there
  link?: LinkProps;
  act?: () => void;
};
type Found = Schemas['Found']['groups'][number];
type Store = { id: string; name: string; archivedAt: string | null };

const LINE = { size: 17, stroke: 1.7, 'aria-hidden': true } as const;

const PAGES: [TextKey, LinkProps['to'], Record<string, string>?, TextKey?][] = [
  ['nav.overview', '/'],
  ['nav.deliveries', '/deliveries'],
  ['palette.page.needs', '/deliveries', { view: 'needs' }],
  ['palette.page.waiting', '/deliveries', { view: 'waiting' }],
  ['palette.page.refused', '/deliveries', { status: 'failed', code: 'cloud_rejected' }],
  ['nav.orders', '/orders'],
  ['palette.page.unmapped', '/orders', { view: 'unmapped' }],
  ['nav.presets', '/presets'],
  ['nav.integrations', '/integrations'],
  ['nav.stores', '/integrations/stores'],
  ['nav.webhooks', '/integrations/webhooks'],
  ['nav.cloud', '/cloud'],
  ['nav.credits', '/credits', undefined, 'palette.also.credits'],
  ['nav.keys', '/keys'],
  ['nav.usage', '/usage'],
  ['palette.page.profile', '/account/profile'],
  ['palette.page.people', '/account/people'],
  ['palette.page.customers', '/account/customers', undefined, 'palette.also.customers'],
  ['palette.page.sessions', '/account/sessions'],
  ['palette.page.audit', '/account/audit'],
];
const OWNERS: ReadonlySet<unknown> = new Set(['/account/audit']); // pages that members do not have
export const pageEntries = (owner = false): Entry[] =>
  PAGES.filter(([, to]) => owner || !OWNERS.has(to)).map(([name, to, search, also]) => ({
    key: `page ${name}`,
    group: 'page',
    icon: <IconArrowRight {...LINE} />,
    title: t(name as 'nav.orders'),
    ...(also ? { also: t(also as 'palette.also.customers') } : {}),
    link: { to, search: search ?? {} },
  }));

type Does = { theme: (scheme: 'light' | 'dark' | 'auto') => void; shortcuts: () => void; signOut: () => void };

// `sold`: whether credits are.
export function actionEntries(stores: Store[], does: Does, owner = false, sold: boolean | undefined = false): Entry[] {
  const action = (title: string, what: Pick<Entry, 'link' | 'act'>): Entry => ({
    key: `action ${title}`,
    group: 'action',
    icon: <IconBolt {...LINE} />,
    title,
    ...what,
  });
  const open = stores.filter(({ archivedAt }) => archivedAt === null);
  return [
    ...(owner
      ? [
          action(t('palette.action.token'), { link: { to: '/keys', search: { new: 'token' } } }),
          action(t('palette.action.invite'), { link: { to: '/account/people', search: { new: 'invitation' } } }),
        ]
      : []),
    action(t('palette.action.store'), { link: { to: '/integrations/stores/new', search: {} } }),
    action(t('palette.action.webhook'), { link: { to: '/integrations/webhooks', search: { new: 'webhook' } } }),
    ...(owner && sold ? [action(t('palette.action.buy'), { link: { to: '/credits', search: {} } })] : []),
    action(t('palette.action.refused'), { link: { to: '/deliveries', search: { do: 'retry-refused' } } }),
    ...open.flatMap(({ id, name }) => [
      action(t('palette.action.test', { store: name }), {
        link: { to: '/integrations/stores/$id/products', params: { id }, search: { test: 'order' } },
      }),
      action(t('palette.action.products', { store: name }), {
        link: { to: '/integrations/stores/$id/products', params: { id }, search: {} },
      }),
    ]),
    action(t('palette.action.light'), { act: () => does.theme('light') }),
    action(t('palette.action.dark'), { act: () => does.theme('dark') }),
    action(t('palette.action.auto'), { act: () => does.theme('auto') }),
    action(t('palette.action.shortcuts'), { act: does.shortcuts }),
    action(t('palette.action.signOut'), { act: does.signOut }),
  ];
}

export const recentEntries = (recent: readonly Recent[]): Entry[] =>
  recent.map(({ path, title }) => ({
    key: `recent ${path}`,
    group: 'recent',
    icon: <IconHistory {...LINE} />,
    title,
    link: { to: path } as LinkProps,
  }));

const KINDS: Record<string, { to: LinkProps['to']; icon: ReactNode }> = {
  preset: { to: '/presets/$id', icon: <IconWaveSine {...LINE} /> },
  store: { to: '/integrations/stores/$id/products', icon: <IconBuildingStore {...LINE} /> },
  key: { to: '/keys/$id', icon: <IconKey {...LINE} /> },
  subscription: { to: '/integrations/webhooks/$id', icon: <IconWebhook {...LINE} /> },
};

// A kind that is newer than this page has no page to go to, and is left out.
export function foundEntries(groups: Found[]): Entry[] {
  return groups.flatMap(({ kind, items }) =>
    items.flatMap(({ id, title, subtitle, status }): Entry[] => {
      const common = { key: `${kind} ${id}`, group: kind, title: title || id };
      if (kind === 'delivery')
        return [
          {
            ...common,
            icon: <StatusIcon status={status ?? ''} />,
            subtitle,
            state: statusWord(status ?? ''),
            link: { to: '/deliveries/$id', params: { id }, search: {} },
          },
        ];
      if (kind === 'order')
        return [
          {
            ...common,
            ...(status === 'delivery' // the search does not return the delivery's status
              ? { icon: <IconReceipt {...LINE} /> }
              : { icon: <Shape {...lookOfOutcome(status ?? '')} />, state: outcomeWord(status ?? '') }),
            subtitle,
            link: { to: '/orders/$id', params: { id }, search: {} },
          },
        ];
      const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
      if (!known) return [];
      const capture = kind === 'preset' && subtitle === 'capture';
      return [
        {
          ...common,
          icon: capture ? <IconMicrophone2 {...LINE} /> : known.icon,
          subtitle: kind === 'preset' ? word('kind', subtitle ?? '') : kind === 'store' ? null : subtitle,
          ...(status === 'inactive' ? { state: t('palette.status.inactive') } : {}),
          link: { to: known.to, params: { id }, search: {} },
        },
      ];
    }),
  );
}

const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

// The entries in which every word that was typed begins a word.
export function matching(entries: Entry[], text: string): Entry[] {
  const typed = folded(text).split(/\s+/).filter(Boolean);
  return entries.filter(({ title, also = '' }) => {
    const words = folded(`${title} ${also}`).split(/[^\p{L}\p{N}]+/u);
    return typed.every((one) => words.some((word) => word.startsWith(one)));
  });
}
