import { exactKeyOf } from '../store/products/draft';
import type { Order } from './types';

// The key of a match for a line that none serves, from the shop's own data; null where there is none or none is needed.
export const bareKey = (line: Order['lines'][number]) =>
  line.fileId === null && line.matchedBy === null && line.result !== 'delivers' && line.result !== 'ignored'
    ? exactKeyOf(line)
    : null;
