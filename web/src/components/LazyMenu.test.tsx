import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { lazy } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { LazyMenu } from './LazyMenu';

afterEach(cleanup);

test('the menu is loaded when its button is pressed, and the button stays until it is here', async () => {
  let come = () => undefined as void;
  const load = vi.fn(
    () => new Promise<{ default: () => string }>((done) => (come = () => done({ default: () => 'The menu' }))),
  );
  const Menu = lazy(load);
  render(
    <LazyMenu button={(props) => <button {...props}>More</button>}>
      <Menu />
    </LazyMenu>,
  );
  expect(load).not.toHaveBeenCalled();
  fireEvent.click(screen.getByText('More'));
  expect(load).toHaveBeenCalledOnce();
  screen.getByText('More');
  come();
  await screen.findByText('The menu');
  expect(screen.queryByText('More')).toBeNull();
});
