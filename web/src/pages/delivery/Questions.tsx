// The questions that come before something is done with a delivery. They are asked above its panels, so that a question and what was typed
// in it stay when the delivery changes meanwhile and its panel goes.
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Ask, type Asked, type Question } from './ask';
import type { Delivery } from './types';

const QuestionDialogs = lazy(() => import('./QuestionDialogs').then((part) => ({ default: part.QuestionDialogs })));

export function Questions({ it, children }: { it: Delivery; children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [opened, setOpened] = useState(false); // what was asked stays in words while its dialog closes
  const ask = (question: Question) => {
    setAsked({ question, was: it });
    setOpened(true);
  };
  return (
    <Ask value={ask}>
      {children}
      <Suspense>
        {asked ? <QuestionDialogs it={it} asked={asked} opened={opened} onClose={() => setOpened(false)} /> : null}
      </Suspense>
    </Ask>
  );
}
