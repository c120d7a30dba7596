// Why a form was not accepted. Problems stand beside their fields: the only one takes the focus, of several there is a summary, which takes it.
import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { ApiError, problemsOf, sentence } from '@/api/errors';
import { t, T } from '@/i18n/text';
import { Alert } from './Alert';
import styles from './Alert.module.css';

type Problem = { field: string; text: string; control?: HTMLElement | null };

// The problems that stand beside fields, by Mantine's names of parts.
function besideFields(form: Element): Problem[] {
  return [...form.querySelectorAll('.mantine-InputWrapper-error')].map((shown) => {
    const wrapper = shown.closest('.mantine-InputWrapper-root');
    const control = wrapper?.querySelector<HTMLElement>('input:not([type="hidden"]), textarea');
    const label = wrapper?.querySelector('.mantine-InputWrapper-label')?.firstChild?.textContent;
    return { field: label ?? control?.ariaLabel ?? '', text: shown.textContent ?? '', control };
  });
}

// The problems of the error that stand beside no field. Fields show the words of their problem as they are in the error.
function besideNone(error: unknown, shown: Problem[]): string[] {
  const left = shown.map(({ text }) => text);
  return Object.values(problemsOf(error)).filter((problem) => {
    const at = left.indexOf(problem);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

// `codes`: of errors that the form shows beside a field. `children`: what is shown about an error of no field; else its sentence.
type Props = { error: unknown; codes?: readonly string[]; children?: ReactNode };

export function FormError({ error, codes = [], children }: Props) {
  const isOfField = error instanceof ApiError && codes.includes(error.code);
  const place = useRef<HTMLDivElement>(null);
  const title = useId();
  const [seen, setSeen] = useState<{ error: unknown; problems: Problem[]; others: string[] }>();
  const { problems, others } = error && seen?.error === error ? seen : { problems: [], others: [] };
  const [first] = problems;
  const summed = problems.length > 1 || (first !== undefined && !first.control);
  useLayoutEffect(() => {
    const form = place.current?.closest('form');
    if (!error || !form) return;
    const shown = besideFields(form);
    const rest = besideNone(error, shown);
    const beside = isOfField || rest.length < Object.keys(problemsOf(error)).length;
    setSeen({ error, problems: beside ? shown : [], others: rest });
  }, [error, isOfField]);
  useEffect(() => {
    if (!seen) return;
    const [only, ...more] = seen.problems;
    if (only) (more.length === 0 && only.control ? only.control : place.current)?.focus();
  }, [seen]);
  return (
    <>
      <div ref={place} hidden={!summed} className={styles.summary} role="group" aria-labelledby={title} tabIndex={-1}>
        <p id={title}>{t('form.problems', { count: problems.length })}</p>
        <ul>
          {problems.map(({ field, text, control }, index) => (
            <li key={index}>
              <T
                k="form.problem"
                values={{
                  field: control ? (
                    <button type="button" className="link" onClick={() => control.focus()}>
                      {field}
                    </button>
                  ) : (
                    field
                  ),
                  problem: text,
                }}
              />
            </li>
          ))}
        </ul>
      </div>
      {others.length > 0 ? (
        <Alert>{t('form.refused', { problem: others.join('; ') })}</Alert>
      ) : error && problems.length === 0 ? (
        (children ?? <Alert>{sentence(error)}</Alert>)
      ) : null}
    </>
  );
}
