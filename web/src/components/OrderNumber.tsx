// The number of an order in a list: a long one without its middle, and whole in the tooltip.
import { orderName } from '@/vocabulary/order';
import { Bdi } from './Bdi';

const LONGEST = 20;

export function OrderNumber({ of, className = 'strong' }: { of: Parameters<typeof orderName>[0]; className?: string }) {
  const name = orderName(of);
  const letters = [...name];
  const cut = letters.length > LONGEST;
  return (
    <Bdi className={className} title={cut ? name : undefined}>
      {cut ? `${letters.slice(0, 10).join('')}…${letters.slice(-6).join('')}` : name}
    </Bdi>
  );
}
