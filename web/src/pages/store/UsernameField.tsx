// The field in which buyers say their username: its purpose, where it belongs in this kind of shop, and its code.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { kindFor } from './kinds/kinds';
import { Snippet } from './Snippet';

export function UsernameField({ it }: { it: Store }) {
  const { snippet, snippetHint } = kindFor(it);
  return (
    <>
      <p className="muted">{t('connection.usernameText')}</p>
      <p>{t(snippetHint)}</p>
      <Snippet code={snippet} label={t('connection.usernameCode')} />
    </>
  );
}
