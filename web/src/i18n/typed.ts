// Whether somebody has typed a name of other people, or copied it from where it is shown. Characters that steer the direction are not
// typed, and are shown as their names (outside.ts).
import { inSentence, named, STEERING } from './outside';

export function isTyped(typed: string, name: string, fold: (text: string) => string = String): boolean {
  const plain = (text: string) => fold(text.replace(STEERING, '').trim());
  const shown = [name, named(name, String), named(name, inSentence)];
  return plain(typed) !== '' && shown.map(plain).includes(plain(typed));
}
