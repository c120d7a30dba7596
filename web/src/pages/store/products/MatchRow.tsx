// A product of the shop at the left, what the buyer gets for it at the right.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowRight,
  IconEyeOff,
  IconMicrophone2,
  IconPlus,
  IconWaveSine,
  IconX,
} from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { ByTitle } from './ByTitle';
import { keyOf, type File, type Key, type Match } from './draft';
import { hasLost, isLost, useLostFiles, withoutLost } from './lost';
import styles from './products.module.css';

type Props = {
  name: string;
  detail: ReactNode;
  match: Match;
  changed: boolean;
  note?: string; // says how many orders were skipped because the product has no match
  unsold?: boolean; // no order but tests has ordered it, so it may be a sample
  instead?: Match | null; // a match by SKU or id that can replace the match by title
  onChange: (match: Match) => void;
  onRemove?: () => void; // of a match that no product uses
};

const FilePicker = lazy(() => import('./FilePicker').then((part) => ({ default: part.FilePicker })));

export function MatchRow({ name, detail, match, changed, note, unsold, instead, onChange, onRemove }: Props) {
  const [edited, setEdited] = useState<Key | null>(null);
  const gets = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>(); // of the field as it was left
  const edit = () => setEdited(keyOf(match));
  // The row keeps its height: a press on what is beneath takes the focus, and must still end where it began.
  const leave = () => {
    setHeight(gets.current?.getBoundingClientRect().height);
    setEdited(null);
  };
  const edits = edited === keyOf(match);
  const bare = !match.ignored && match.files.length === 0;
  const lost = useLostFiles(match.files.length > 0);
  const broken = hasLost(match, lost);
  return (
    <li className={styles.row} data-quiet={match.ignored || undefined}>
      <div className={styles.product}>
        <strong>
          <Bdi>{name}</Bdi>
        </strong>
        <span>{detail}</span>
        {instead ? (
          <ByTitle
            name={name}
            match={instead}
            onChoose={() => {
              gets.current?.querySelector<HTMLElement>('button, input')?.focus(); // the clicked button disappears
              onChange(instead);
            }}
          />
        ) : null}
      </div>
      <IconArrowRight
        className={styles.arrow}
        size={17}
        data-needs={bare || broken || changed || undefined}
        aria-hidden="true"
      />
      <div className={styles.gets} ref={gets} style={edits ? undefined : { minHeight: height }}>
        {edits ? (
          <Suspense>
            <FilePicker
              label={t('products.presetsOf', { product: name })}
              match={match}
              onChange={(next) => onChange(withoutLost(match, next, lost))}
              onDone={leave}
            />
          </Suspense>
        ) : match.ignored ? (
          <>
            <span className={styles.ignored}>
              <IconEyeOff size={16} aria-hidden="true" />
              {t('products.ignored')}
            </span>
            <button type="button" className={styles.quietButton} onClick={() => onChange({ ...match, ignored: false })}>
              {t('products.unignore')}
            </button>
          </>
        ) : bare ? (
          <>
            <Button className={styles.choose} data-choose leftSection={<IconPlus size={15} />} onClick={edit}>
              {t('products.choose')}
            </Button>
            {note ? (
              <span className={styles.note}>
                <IconAlertTriangle size={16} aria-hidden="true" />
                {note}
              </span>
            ) : null}
            {unsold ? (
              <>
                <span className={styles.unsold}>{t('products.unsold')}</span>
                <button
                  type="button"
                  className={styles.quietButton}
                  aria-label={t('products.ignoreOf', { product: name })}
                  onClick={() => onChange({ ...match, ignored: true, files: [] })}
                >
                  {t('products.ignoreIt')}
                </button>
              </>
            ) : null}
          </>
        ) : (
          <>
            <button type="button" className={styles.chips} data-choose onClick={edit}>
              <span className="unseen">{t('products.presetsOf', { product: name })}</span>
              {match.files.map((file) => (
                <Chip key={file.fileId} file={file} gone={isLost(file, lost)} changed={changed} />
              ))}
            </button>
            {broken ? (
              <Button onClick={edit}>
                {t('products.another')} <span className="unseen">{name}</span>
              </Button>
            ) : null}
          </>
        )}
      </div>
      {onRemove ? (
        <button
          type="button"
          className={`${styles.quietButton} ${styles.remove}`}
          aria-label={t('products.remove', { product: name })}
          onClick={onRemove}
        >
          <IconX size={16} aria-hidden="true" />
        </button>
      ) : null}
    </li>
  );
}

function Chip({ file, gone, changed }: { file: File; gone: boolean; changed: boolean }) {
  const Icon = file.kind === 'capture' ? IconMicrophone2 : IconWaveSine;
  return (
    <span
      className={styles.chip}
      data-changed={changed || undefined}
      data-stale={file.stale || gone || undefined}
      title={file.stale ? t('products.stale') : file.fileId}
    >
      {file.stale || gone ? <IconAlertTriangle size={15} aria-hidden="true" /> : <Icon size={15} aria-hidden="true" />}
      <Bdi>{file.fileName || file.fileId}</Bdi>
      {gone ? <span className={styles.gone}>{t('products.gone')}</span> : null}
    </span>
  );
}
