// The foot of a panel that the buyer can solve: a message to copy, or to send by the merchant's own mail.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { IconMail, IconMessage2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { CopyButton } from '@/components/Copy';
import { t } from '@/i18n/text';
import { messageOf } from './messages';
import { useStay } from './onward';
import type { Delivery } from './types';
import styles from './panels.module.css';

function useMessage(it: Delivery) {
  const account = useQuery(queries.account());
  const cloud = useQuery(queries.cloud());
  const sender = cloud.data?.cloudUsername;
  return messageOf(
    it,
    account.data?.displayName ?? account.data?.name ?? it.integrationName,
    sender ? `@${sender}` : undefined,
  );
}

// The first action of a panel that nothing else solves.
export function CopyMessage({ it }: { it: Delivery }) {
  const message = useMessage(it);
  const stay = useStay();
  if (!message) return null;
  return <CopyButton text={message.text} label={t('fix.copyMessage')} variant="filled" size="md" onCopy={stay} />;
}

// `copy`: the words of its button; null: the panel has one already.
type Props = { it: Delivery; lead: string; words: string; copy?: string | null };

export function AskBuyer({ it, lead, words, copy = t('fix.copyMessage') }: Props) {
  const message = useMessage(it);
  if (!message) return null;
  return (
    <>
      <IconMessage2 size={18} stroke={1.7} aria-hidden="true" />
      <span className={styles.ask}>
        <strong>{lead}</strong> <span className="muted">{words}</span>
      </span>
      {it.customerEmail ? (
        <Button component="a" href={message.mailto} leftSection={<IconMail size={16} />}>
          {t('fix.writeMail')}
        </Button>
      ) : null}
      {copy === null ? null : <CopyButton text={message.text} label={copy} />}
    </>
  );
}
