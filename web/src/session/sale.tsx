// Whether credits can be bought here, and how to ask for them where they cannot.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { t } from '@/i18n/text';
import { signInConfig } from './config';

// Undefined while it is not known, or not asked for.
export function useSale(enabled = true): boolean | undefined {
  const packs = useQuery({ ...queries.packs(), enabled });
  return packs.isError ? true : packs.data && packs.data.data.length > 0; // the page of credits says what is wrong
}

export function AskForCredits() {
  const support = useQuery(signInConfig()).data?.supportUrl;
  return support ? (
    <a className="link" href={support} target="_blank" rel="noreferrer">
      {t('sale.ask')}
    </a>
  ) : (
    <span className="muted">{t('sale.ask')}</span>
  );
}
