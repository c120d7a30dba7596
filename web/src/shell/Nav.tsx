// The navigation: links to the pages, with a count where something waits.
import {
  IconBuildingStore,
  IconChartBar,
  IconCloud,
  IconCoins,
  IconHelpCircle,
  IconHome,
  IconKey,
  IconPackage,
  IconReceipt,
  IconSearch,
  IconSelector,
  IconWaveSine,
  IconUserCircle,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { LazyMenu } from '@/components/LazyMenu';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { useSession } from '@/session';
import { needsYou } from '@/vocabulary/health';
import { PersonMenu } from './later';
import { Mark } from './Mark';
import { MAC } from './mac';
import styles from './Nav.module.css';

export function Nav({ onHelp, onSearch }: { onHelp: () => void; onSearch: () => void }) {
  const account = useQuery(queries.account());
  const needs = useQuery(queries.deliveryCount({ needsAttention: true }));
  const stores = useQuery(queries.stores());
  const receivers = useQuery(queries.subscriptions());
  const cloud = useQuery(queries.cloud());
  const credits = useQuery(queries.credits());
  const needing = needs.data?.count ?? 0;
  const now = useNow(60_000);
  const failing = receivers.data?.data.filter((one) => needsYou(one, now)).length ?? 0;
  const refused = cloud.data?.status === 'invalid';
  return (
    <nav className={styles.nav} aria-label={t('nav.label')}>
      <div className={styles.account}>
        <Mark />
        <div>
          <strong>
            <Bdi>{account.data?.name ?? ' '}</Bdi>
          </strong>
          <span>{t('app.name')}</span>
        </div>
      </div>
      <button type="button" className={styles.search} onClick={onSearch}>
        <IconSearch size={16} stroke={1.7} aria-hidden="true" />
        <span>{t('nav.search')}</span>
        <kbd>{MAC ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ul>
        <Item to="/" icon={IconHome} label={t('nav.overview')} exact />
        <Item to="/deliveries" icon={IconPackage} label={t('nav.deliveries')}>
          {needing > 0 ? <Count n={needing} red words={t('nav.needYou', { count: needing })} /> : null}
        </Item>
        <Item to="/orders" icon={IconReceipt} label={t('nav.orders')} />
        <Item to="/presets" icon={IconWaveSine} label={t('nav.presets')} />
      </ul>
      <h2>
        <Link
          to="/integrations"
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ includeSearch: false, exact: true }}
        >
          {t('nav.integrations')}
        </Link>
      </h2>
      <ul>
        <Item to="/integrations/stores" icon={IconBuildingStore} label={t('nav.stores')}>
          {stores.data?.data.length ? (
            <Count n={stores.data.data.length} words={t('count.stores', { count: stores.data.data.length })} />
          ) : null}
        </Item>
        <Item to="/integrations/webhooks" icon={IconWebhook} label={t('nav.webhooks')}>
          {failing > 0 ? <Count n={failing} red words={t('nav.failing', { count: failing })} /> : null}
        </Item>
      </ul>
      <h2>{t('nav.account')}</h2>
      <ul>
        <Item to="/cloud" icon={IconCloud} label={t('nav.cloud')}>
          {refused ? (
            <span className={styles.count}>
              <Shape icon="octagon" colour="red" />
              <span className="unseen">{t('nav.refused')}</span>
            </span>
          ) : null}
        </Item>
        <Item to="/credits" icon={IconCoins} label={t('nav.credits')}>
          {credits.data ? (
            <Count n={credits.data.available} words={t('count.credits', { count: credits.data.available })} />
          ) : null}
        </Item>
        <Item to="/keys" icon={IconKey} label={t('nav.keys')} />
        <Item to="/usage" icon={IconChartBar} label={t('nav.usage')} />
        <Item to="/account" icon={IconUserCircle} label={t('nav.accountPage')} />
      </ul>
      <div className={styles.foot}>
        <a className={styles.item} href="/docs" target="_blank" rel="noopener noreferrer">
          <IconHelpCircle size={17} stroke={1.7} aria-hidden="true" />
          {t('nav.help')}
        </a>
        <Person onHelp={onHelp} />
      </div>
    </nav>
  );
}

function Item({
  to,
  icon: Icon,
  label,
  exact = false,
  children,
}: {
  to: LinkProps['to'];
  icon: TablerIcon;
  label: string;
  exact?: boolean;
  children?: ReactNode;
}) {
  return (
    <li>
      <Link
        to={to}
        className={styles.item}
        activeProps={{ 'aria-current': 'page' }}
        activeOptions={{ includeSearch: false, exact }}
      >
        <Icon size={17} stroke={1.7} aria-hidden="true" />
        {label}
        {children}
      </Link>
    </li>
  );
}

function Count({ n, words, red }: { n: number; words: string; red?: boolean }) {
  return (
    <span className={styles.count} data-red={red || undefined}>
      <span aria-hidden="true">{n}</span>
      <span className="unseen">{words}</span>
    </span>
  );
}

function Person({ onHelp }: { onHelp: () => void }) {
  const state = useSession();
  const email = state.name === 'in' || state.name === 'ended' ? state.tokens.user.email : '';
  const row = { type: 'button', className: styles.person, title: email } as const;
  const inside = (
    <>
      <span className={styles.initials} aria-hidden="true">
        {email.slice(0, 2).toUpperCase()}
      </span>
      <Bdi className={styles.email}>{email}</Bdi>
      <IconSelector size={17} aria-hidden="true" />
    </>
  );
  return (
    <LazyMenu
      button={(props) => (
        <button {...row} {...props} aria-haspopup="menu" aria-expanded={false}>
          {inside}
        </button>
      )}
    >
      <PersonMenu row={row} onHelp={onHelp}>
        {inside}
      </PersonMenu>
    </LazyMenu>
  );
}
