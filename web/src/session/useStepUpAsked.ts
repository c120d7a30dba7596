import { useSyncExternalStore } from 'react';
import { stepUp } from './step_up';

export const useStepUpAsked = () => useSyncExternalStore(stepUp.subscribe, stepUp.isAsking);
