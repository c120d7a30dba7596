// After Ctrl or Cmd and Enter in a panel, the next delivery of the list is opened once this one is solved. A panel calls `stay` where its
// action fails or asks something first: the person then goes on by a button.
import { createContext, useContext } from 'react';

export const Stay = createContext<() => void>(() => undefined);
export const useStay = () => useContext(Stay);
