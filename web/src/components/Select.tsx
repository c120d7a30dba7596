// The checkboxes of a table: one a row (with Shift: all rows from the last one), and one for all rows of the page.
import { t } from '@/i18n/text';
import styles from './Rows.module.css';
import tick from './Tick.module.css';

// Which rows are chosen.
export type Selection = {
  has: (id: string) => boolean;
  set: (ids: string[], chosen: boolean) => void;
  nameOf: (id: string) => string; // of the checkbox
};

export function SelectAll({ ids, selection }: { ids: string[]; selection: Selection }) {
  const chosen = ids.filter(selection.has).length;
  return (
    <th className={styles.select}>
      <label>
        <input
          type="checkbox"
          className={tick.tick}
          aria-label={t('select.page')}
          checked={chosen > 0 && chosen === ids.length}
          ref={(box) => {
            if (box) box.indeterminate = chosen > 0 && chosen < ids.length;
          }}
          onChange={(event) => selection.set(ids, event.currentTarget.checked)}
        />
        <span className={styles.narrowOnly} aria-hidden="true">
          {t('select.page')}
        </span>
      </label>
    </th>
  );
}

type OneProps = { id: string; selection: Selection; onChoose: (id: string, chosen: boolean, range: boolean) => void };

export function SelectOne({ id, selection, onChoose }: OneProps) {
  return (
    <td className={styles.select} data-narrow="select">
      <label data-above="">
        <input
          type="checkbox"
          className={tick.tick}
          aria-label={t('select.one', { name: selection.nameOf(id) })}
          checked={selection.has(id)}
          onChange={(event) => {
            const { nativeEvent: click } = event;
            onChoose(id, event.currentTarget.checked, click instanceof MouseEvent && click.shiftKey);
          }}
        />
      </label>
    </td>
  );
}
