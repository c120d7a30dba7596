// An entry of the audit log as a sentence: who, and what they did to which thing. Names come from the lists that there are;
// a thing that is in none of them any more is shown by its id.
import '@/i18n/en/profile';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { hasText, t, T } from '@/i18n/text';
import styles from './audit.module.css';

const NAMES = {
  operator: 'audit.operator',
  system: 'audit.system',
  order: 'audit.order',
  buyer: 'audit.buyer',
} as const;

// `name`: the service's `actorName`; null: the person or token is gone.
export function Actor({ actor, name }: { actor: string; name: string | null }) {
  const account = useQuery(queries.account());
  if (actor.startsWith('usr_'))
    return actor === account.data?.caller.userId ? (
      t('audit.you')
    ) : (
      <Bdi title={actor}>{name ?? t('audit.person')}</Bdi>
    );
  if (Object.hasOwn(NAMES, actor))
    return (
      <>
        {t(NAMES[actor as keyof typeof NAMES])} {name ? <Bdi className="muted">{name}</Bdi> : null}
      </>
    );
  return <Bdi title={actor}>{name ?? (actor.startsWith('key_') ? t('audit.token') : actor)}</Bdi>;
}

export function Target({ id }: { id: string }): ReactNode {
  const kind = id.slice(0, 4);
  const keys = useQuery({ ...queries.keys(), enabled: kind === 'key_', refetchInterval: false });
  const stores = useQuery({ ...queries.stores(), enabled: kind === 'int_', refetchInterval: false });
  const hooks = useQuery({ ...queries.subscriptions(), enabled: kind === 'sub_', refetchInterval: false });
  const people = useQuery({ ...queries.people(), enabled: kind === 'usr_', refetchInterval: false });
  switch (kind) {
    case 'key_':
      return <Bdi className="strong">{keys.data?.data.find((one) => one.id === id)?.name ?? id}</Bdi>;
    case 'int_': {
      const store = stores.data?.data.find((one) => one.id === id);
      return store ? (
        <Link className="link" to="/integrations/stores/$id/products" params={{ id }} search={{}}>
          <Bdi>{store.name}</Bdi>
        </Link>
      ) : (
        <Bdi>{id}</Bdi>
      );
    }
    case 'sub_': {
      const hook = hooks.data?.data.find((one) => one.id === id);
      return hook ? (
        <Link className="link" to="/integrations/webhooks/$id" params={{ id }} search={{}}>
          <Bdi>{hook.name || hook.url}</Bdi>
        </Link>
      ) : (
        <Bdi>{id}</Bdi>
      );
    }
    case 'usr_':
      return <Bdi className="strong">{people.data?.data.find((one) => one.id === id)?.email ?? id}</Bdi>;
    case 'ord_':
      return (
        <Link className="link" to="/orders/$id" params={{ id }} search={{}}>
          {t('target.order')}
        </Link>
      );
    case 'del_':
      return (
        <Link className="link" to="/deliveries/$id" params={{ id }} search={{}}>
          {t('target.delivery')}
        </Link>
      );
    default:
      return <Bdi>{id}</Bdi>;
  }
}

export function Deed({ it }: { it: Schemas['AuditEntry'] }) {
  const key = `did.${it.action}`;
  if (!hasText(key))
    return (
      <Bdi>
        {it.action} {it.target}
      </Bdi>
    ); // newer than this page
  return (
    <span title={it.action} className={styles.deed}>
      <T k={key as 'did.api_key.created'} values={{ target: <Target id={it.target} /> }} />
    </span>
  );
}
