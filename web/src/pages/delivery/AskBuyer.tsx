// The foot of a panel that the buyer can solve: a message to copy, or to send by the merchant's own mail.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { IconMail, IconMessage2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { CopyButton } from '@/components/Copy';
import { t } from '@/i18n/text';
import type { Delivery } from './types';
import { messageOf } from './messages';
import styles from './panels.module.css';

type Props = { it: Delivery; lead: string; words: string; copy?: string };

export function AskBuyer({ it, lead, words, copy = t('fix.copyMessage') }: Props) {
  const account = useQuery(queries.account());
  const cloud = useQuery(queries.cloud());
  const sender = cloud.data?.cloudUsername;
  const message = messageOf(
    it,
    account.data?.displayName ?? account.data?.name ?? it.integrationName,
    sender ? `@${sender}` : undefined,
  );
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
      <CopyButton text={message.text} label={copy} />
    </>
  );
}
