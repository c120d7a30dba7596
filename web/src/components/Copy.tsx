// Copying text: the button says so itself, for two seconds. Where the clipboard is refused, the text is selected instead: in its place on
// the page (`source`), or in a toast.
import { ActionIcon, Button, type ButtonProps } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { t } from '@/i18n/text';
import { toast } from './toasts';
import styles from './Copy.module.css';

type State = 'idle' | 'copied' | 'refused';

const select = (place: HTMLElement | null) => {
  if (place) window.getSelection()?.selectAllChildren(place);
};

export function useCopy(source?: RefObject<HTMLElement | null>) {
  const [state, setState] = useState<State>('idle');
  useEffect(() => {
    if (state !== 'copied') return undefined;
    const timer = setTimeout(() => setState('idle'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  async function copy(text: string) {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
      return true;
    } catch {
      if (source?.current) select(source.current);
      else
        toast(
          <span className={styles.refused}>
            {t('action.clipboardRefused')} <code ref={select}>{text}</code>
          </span>,
          { tone: 'bad' },
        );
      setState('refused');
      return false;
    }
  }
  return { state, copy };
}

type CopyButtonProps = ButtonProps & {
  text: string;
  label?: string;
  source?: RefObject<HTMLElement | null>;
  onCopy?: () => void;
};

export function CopyButton({ text, label = t('action.copy'), source, onCopy, ...rest }: CopyButtonProps) {
  const { state, copy } = useCopy(source);
  const words = { idle: label, copied: t('action.copied'), refused: t('action.pressCopy') };
  return (
    <Button
      leftSection={state === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}
      onClick={() => {
        onCopy?.();
        void copy(text);
      }}
      {...rest}
    >
      <span aria-live="polite">{words[state]}</span>
    </Button>
  );
}

export function CopyIcon({ text, what }: { text: string; what: string }) {
  const { state, copy } = useCopy();
  const label = state === 'copied' ? t('action.copied') : t('action.copyOf', { what });
  return (
    <ActionIcon size={24} aria-label={label} title={label} onClick={() => void copy(text)}>
      {state === 'copied' ? <IconCheck size={15} /> : <IconCopy size={15} />}
    </ActionIcon>
  );
}

// A value to take elsewhere, whole, with its button.
export function CopyField({ value, label }: { value: string; label: string }) {
  const text = useRef<HTMLElement>(null);
  return (
    <div className={styles.field} role="group" aria-label={label}>
      <code ref={text}>{value}</code>
      <CopyButton text={value} source={text} />
    </div>
  );
}
