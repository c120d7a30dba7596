// The question before a store refuses orders that carry no token: loaded when it is asked.
import '@/i18n/en/require_token';
import '@/i18n/en/stores';
import { ConfirmDialog } from '@/components/Dialogs';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { kindFor } from './kinds/kinds';

type Props = { it: Store; onConfirm: () => Promise<void>; onClose: () => void };

export function RequireToken({ it, onConfirm, onClose }: Props) {
  const { name, sendsToken } = kindFor(it);
  return (
    <ConfirmDialog
      opened
      danger
      onClose={onClose}
      title={t('requireToken.title', { name: it.name })}
      body={sendsToken ? t('requireToken.body') : t('requireToken.never', { shop: t(name) })}
      button={t('requireToken.button')}
      onConfirm={onConfirm}
    />
  );
}
