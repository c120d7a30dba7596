import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Csv } from './ImportCsv';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a table with problems shows them in plain words and leads to another file, without counts of changes', async () => {
  const faulty = { line: 3, column: 'matchType', problem: 'must be one of sku, product_id, variant_id, title' };
  const long = { line: 4, column: null, problem: 'has more fields than the first line has columns' };
  let errors: unknown[] = [faulty, long];
  serve(() =>
    Response.json({
      ...{ dryRun: true, version: 7, changed: 0, removed: 0 },
      added: 2,
      errors,
      errorCount: errors.length,
    }),
  );
  await show(<Csv id="int_0a1b2c3d4e5f6" />);
  const user = userEvent.setup();
  const field = screen.getByLabelText<HTMLInputElement>('CSV file');
  const choose = () => user.upload(field, new File(['x'], 'matches.csv', { type: 'text/csv' }));
  await choose();
  const said = (await screen.findByRole('alert')).textContent?.replace(/[\u2066-\u2069]/g, '');
  expect(said).toContain('Line 3: the column matchType must be one of sku, product_id, variant_id, title');
  expect(said).toContain('Line 4 has more fields than the first line has columns');
  expect(screen.queryByText('2 new')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Import' })).toBeNull();
  const opens = vi.spyOn(field, 'click');
  await user.click(screen.getByRole('button', { name: 'Choose another file' }));
  expect(opens).toHaveBeenCalledOnce();
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  errors = [];
  await choose();
  await screen.findByText('2 new');
  screen.getByRole('button', { name: 'Import' });
});
