// A secret, the one time that it is shown. It lives in the state of the caller alone: in no cache, address or attribute, and is gone
// when the dialog closes. The dialog closes by its button only, which is enabled once the person says that the secret is stored.
import { Button, Checkbox, Modal } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useRef, useState, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { CopyButton } from './Copy';
import { useLeaveAsked } from './unsaved';
import styles from './SecretOnce.module.css';

type Props = {
  secret: string | null; // null: closed
  title: string;
  lead?: string;
  env?: string; // the name of a variable: offers a .env file
  stored?: string; // the label of the checkbox that says so
  children?: ReactNode; // facts about it
  onDone: () => void;
};

export function SecretOnce({ secret, title, lead = t('secret.onceSealed'), env, stored, children, onDone }: Props) {
  return (
    <Modal
      opened={secret !== null}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={title}
      size={540}
    >
      {secret === null ? null : (
        <SecretShown secret={secret} lead={lead} env={env} stored={stored} onDone={onDone}>
          {children}
        </SecretShown>
      )}
    </Modal>
  );
}

// The same within a page. `label`: the secret's name there.
export function SecretShown({
  secret,
  label,
  lead = t('secret.onceSealed'),
  env,
  stored: words = t('secret.stored'),
  children,
  onDone,
}: {
  secret: string;
  label?: string;
  lead?: string;
  env?: string;
  stored?: string;
  children?: ReactNode;
  onDone: () => void;
}) {
  const [stored, setStored] = useState(false);
  const text = useRef<HTMLElement>(null);
  const done = useRef(false);
  const guard = useLeaveAsked(() => !done.current, t('secret.leave.title'), t('secret.leave'));
  function download() {
    const address = URL.createObjectURL(new Blob([`${env}=${secret}\n`], { type: 'text/plain' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = '.env';
    link.click();
    URL.revokeObjectURL(address);
  }
  return (
    <div className={styles.shown}>
      <p className="muted">{lead}</p>
      <div {...(label ? { role: 'group', 'aria-label': label } : {})}>
        <code ref={text} className={styles.secret}>
          {secret}
        </code>
      </div>
      <div className={styles.buttons}>
        <CopyButton text={secret} source={text} variant="filled" size="lg" data-autofocus />
        {env ? (
          <Button size="lg" leftSection={<IconDownload size={16} />} onClick={download}>
            {t('secret.env')}
          </Button>
        ) : null}
      </div>
      {children}
      <div className={styles.foot} data-within={label ? true : undefined}>
        <Checkbox checked={stored} onChange={(event) => setStored(event.currentTarget.checked)} label={words} />
        <Button
          variant="filled"
          disabled={!stored}
          onClick={() => {
            done.current = true; // before the caller goes to another page
            onDone();
          }}
        >
          {t('action.done')}
        </Button>
      </div>
      {guard}
    </div>
  );
}
