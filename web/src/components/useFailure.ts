// Why the action of a dialog's form failed. Once the dialog is closed, nobody sees it there, so a toast says it.
import { useCallback, useEffect, useRef, useState } from 'react';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { toast } from './toasts';

// `action`: the words of the form's button.
export function useFailure(action: string, opened = true) {
  const [error, setError] = useState<unknown>();
  const shown = useRef(false);
  useEffect(() => {
    shown.current = opened;
    return () => {
      shown.current = false;
    };
  }, [opened]);
  const fail = useCallback(
    (failure: unknown) => {
      if (shown.current) setError(failure);
      else toast(t('action.failed', { action, why: sentence(failure) }), { tone: 'bad' });
    },
    [action],
  );
  const clear = useCallback(() => setError(undefined), []);
  return { error, fail, clear };
}
