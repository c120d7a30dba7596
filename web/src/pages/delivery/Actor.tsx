// Who did something to a delivery; whoever reads it is "you".
import '@/i18n/en/delivery';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { useSession } from '@/session';
import type { Entry } from './timeline';

// `within`: it does not begin the sentence.
export function Actor({ of: { actor, actorName }, within = false }: { of: Entry; within?: boolean }) {
  const state = useSession();
  const me = state.name === 'in' || state.name === 'ended' ? state.tokens.user.id : null;
  const known = actor === me ? 'you' : actor === 'buyer' || actor === 'operator' ? actor : null;
  if (known && (known === 'you' || !actorName)) return t(`timeline.actor.${known}${within ? '.within' : ''}`);
  return <Bdi>{actorName ?? actor}</Bdi>;
}
