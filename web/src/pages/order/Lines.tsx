// The products of the order, and what each delivered. One without a preset gets it here.
import '@/i18n/en/orders';
import { useState } from 'react';
import { useUnsaved } from '@/components/unsaved';
import { t } from '@/i18n/text';
import { keyOf, type Draft, type Match } from '../store/products/draft';
import { MatchRow } from '../store/products/MatchRow';
import { bareKey } from './bare';
import { Line, LineDetail } from './Line';
import type { Order } from './types';
import { SaveMatches } from './SaveMatches';
import styles from './order.module.css';

export function Lines({ it }: { it: Order }) {
  const [draft, setDraft] = useState<Draft>(new Map());
  const chosen = new Map([...draft].filter(([, { ignored, files }]) => ignored || files.length > 0));
  const dryRun = it.dryRun ?? false;
  const guard = useUnsaved(chosen.size > 0);
  const change = (match: Match) => setDraft((now) => new Map(now).set(keyOf(match), match));
  const some = it.lines.some((line) => bareKey(line));
  // Where no product has presets, the panel above says so.
  const mixed = it.lines.some((line) => line.result !== 'unmapped');
  return (
    <section aria-labelledby="lines">
      <h2 id="lines" className={styles.title}>
        {t('orderPage.lines')}
      </h2>
      {some ? <p className={styles.hint}>{t('orderPage.chooseHint')}</p> : null}
      {it.lines.length === 0 ? (
        <p className="muted">{t('orderPage.lines.none')}</p>
      ) : (
        <ul className={styles.lines}>
          {it.lines.map((line) => {
            const by = bareKey(line);
            if (!by || it.erased)
              return <Line key={line.lineId} line={line} store={it.integrationId} dryRun={dryRun} />;
            const name = line.title ?? by.matchValue;
            const match = draft.get(keyOf(by));
            return (
              <MatchRow
                key={line.lineId}
                name={name}
                detail={<LineDetail line={line} name={name} />}
                match={match ?? { ...by, ignored: false, files: [] }}
                changed={match !== undefined}
                note={mixed && line.result === 'unmapped' ? t('orderLine.unmapped') : undefined}
                onChange={change}
              />
            );
          })}
        </ul>
      )}
      <SaveMatches it={it} draft={chosen} onDone={() => setDraft(new Map())} />
      {guard}
    </section>
  );
}
