// The outcome of an order, and the result of each of its lines.
import type { Schemas } from '@/api/client';
import { word, type Colour, type Icon } from './delivery';

export type Outcome = Schemas['OrderOutcome'];
type LineResult = Schemas['OrderLine']['result'];

const OUTCOME_LOOKS = {
  delivery: ['check', 'teal'],
  no_mapped_items: ['circle', 'amber'],
  awaiting_payment: ['clock', 'amber'],
  stopped: ['slash', 'grey'],
  inactive: ['slash', 'grey'],
} satisfies Record<Outcome, [Icon, Colour]>;
const LOOKS = {
  ...OUTCOME_LOOKS,
  unmatched: ['circle', 'amber'],
  nothing: ['slash', 'grey'],
} satisfies Record<string, [Icon, Colour]>;
export const OUTCOMES = Object.keys(OUTCOME_LOOKS) as Outcome[];

// The outcome, and of an order without presets whether it waits for the merchant to match a product.
type Known = Pick<Schemas['Order'], 'outcome' | 'unmappedCount' | 'erased'>;
export const standingOf = ({ outcome, unmappedCount, erased }: Known) =>
  outcome !== 'no_mapped_items' ? outcome : unmappedCount > 0 && !erased ? 'unmatched' : 'nothing';

// The words and icon of an outcome, or of a standing.
export const outcomeWord = (outcome: string) => word('orderOutcome', outcome);
export const lookOfOutcome = (outcome: string): { icon: Icon; colour: Colour } => {
  const [icon, colour]: [Icon, Colour] = Object.hasOwn(LOOKS, outcome)
    ? LOOKS[outcome as keyof typeof LOOKS]
    : ['circle', 'grey'];
  return { icon, colour };
};

export const LINE_RESULTS = Object.keys({
  delivers: 1,
  ignored: 1,
  unmapped: 1,
  not_mapped_yet: 1,
  unknown: 1,
} satisfies Record<LineResult, 1>) as LineResult[];
