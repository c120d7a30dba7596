// JSON as text, with line breaks and its names in colour. Text that is no JSON is shown as it is.
import { laidOut, visible } from './json_text';
import styles from './Json.module.css';

export function Json({ text }: { text: string }) {
  let pretty: string;
  try {
    pretty = visible(laidOut(text));
  } catch {
    return visible(text);
  }
  return pretty.split(/^(\s*"(?:[^"\\]|\\.)*":)/m).map((part, index) =>
    index % 2 === 1 ? (
      <span key={index} className={styles.name}>
        {part}
      </span>
    ) : (
      part
    ),
  );
}
