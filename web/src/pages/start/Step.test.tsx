import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Step } from './Step';

afterEach(cleanup);

const nothing = () => undefined;
const step = (number: number, open: boolean) => (
  <Step number={number} done={false} open={open} title={`Step ${number}`} text="" change="Open" onOpen={nothing}>
    <input aria-label="A field" />
  </Step>
);
const both = (open: number) => (
  <ol>
    {step(1, open === 1)}
    {step(2, open === 2)}
  </ol>
);

test('a person who comes to the guide begins in the step that is open', async () => {
  await show(both(1));
  await screen.findByText('Step 1');
  expect(document.activeElement?.textContent).toBe('Step 1');
});

test('a focus that is elsewhere stays there', async () => {
  const search = document.body.appendChild(document.createElement('input'));
  search.focus();
  await show(both(1));
  await screen.findByText('Step 1');
  expect(document.activeElement).toBe(search);
  search.remove();
});
