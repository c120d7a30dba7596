import { Checkbox, PasswordInput, TagsInput, TextInput } from '@mantine/core';
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test } from 'vitest';
import { ApiError, problemsOf } from '@/api/errors';
import { show } from '@/testing/render';
import { FormError } from './FormError';

afterEach(cleanup);

type Details = ApiError['details'];
const refused = (...details: Details) => new ApiError(422, 'VALIDATION_FAILED', 'Refused.', details);

// `errors`: of one submit after the other. `own`: what the form itself says of the rights.
function Form({ errors, own }: { errors: (ApiError | undefined)[]; own?: string }) {
  const [sent, setSent] = useState(0);
  const error = sent === 0 ? undefined : errors[sent - 1];
  const problems = problemsOf(error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setSent(sent + 1);
      }}
    >
      <TextInput label="E-mail" required error={error?.code === 'EMAIL_TAKEN' ? 'Taken' : problems.email} />
      <PasswordInput label="Password" error={problems.password} />
      <Checkbox.Group label="Rights" error={own ?? problems.rights}>
        <Checkbox label="Read" value="read" />
      </Checkbox.Group>
      <TagsInput label="Tags" error={problems['settings.tags']} />
      <FormError error={error} codes={['EMAIL_TAKEN']} />
      <button type="submit" formNoValidate>
        {'Save'}
      </button>
    </form>
  );
}

async function sent(...errors: (ApiError | undefined)[]) {
  await show(<Form errors={errors} />);
  const user = userEvent.setup();
  const save = () => user.click(screen.getByRole('button', { name: 'Save' }));
  await save();
  return { user, save };
}

test('the only problem is beside its field, which takes the focus', async () => {
  await sent(refused({ field: 'password', problem: 'is too short' }));
  expect(document.activeElement).toBe(screen.getByLabelText('Password'));
  expect(screen.getAllByText('is too short')).toHaveLength(1);
  expect(screen.queryByRole('group', { name: /need/ })).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('several problems are summed up; the summary takes the focus and leads to their fields', async () => {
  const three: Details = [
    { field: 'email', problem: 'is no address' },
    { field: 'password', problem: 'is too short' },
    { field: 'rights', problem: 'must have one' },
  ];
  const { user, save } = await sent(refused(...three), undefined, refused(...three.slice(0, 2)));
  const summary = screen.getByRole('group', { name: '3 fields need a change.' });
  expect(document.activeElement).toBe(summary);
  const lines = within(summary).getAllByRole('listitem');
  expect(lines.map(({ textContent }) => textContent)).toEqual([
    'E-mail: is no address',
    'Password: is too short',
    'Rights: must have one',
  ]);
  await user.click(within(summary).getByRole('button', { name: 'Password' }));
  expect(document.activeElement).toBe(screen.getByLabelText('Password'));

  await save();
  expect(screen.queryByRole('group', { name: /need/ })).toBeNull();
  await save();
  expect(document.activeElement).toBe(screen.getByRole('group', { name: '2 fields need a change.' }));
});

test('a problem of an element of a list is beside the list', async () => {
  await sent(refused({ field: 'settings.tags[3]', problem: 'is too long' }));
  expect(document.activeElement).toBe(screen.getByLabelText('Tags', { selector: 'input' }));
  expect(screen.getAllByText('is too long')).toHaveLength(1);
});

test('a problem of something that the form does not show is a sentence, and is counted as no field', async () => {
  const body = { field: 'body', problem: 'is too large' };
  await sent(refused(body));
  expect(screen.getByRole('alert').textContent).toBe('Not accepted: is too large.');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Save' }));
  cleanup();

  await sent(refused({ field: 'email', problem: 'is too large' }, body));
  expect(screen.getByRole('alert').textContent).toBe('Not accepted: is too large.');
  expect(screen.queryByRole('group', { name: /need/ })).toBeNull();
  expect(document.activeElement).toBe(screen.getByLabelText(/^E-mail/));
});

test('an error of no field is a sentence, and the focus stays', async () => {
  await sent(new ApiError(409, 'CONFLICT', 'Somebody was faster.'));
  expect(screen.getByRole('alert').textContent).toBe('Somebody was faster.');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Save' }));
});

test('an error of no field is said where a field has an error too', async () => {
  await show(<Form errors={[new ApiError(409, 'LIMIT_REACHED', 'There are 100 already.')]} own="Choose one" />);
  await userEvent.setup().click(screen.getByRole('button', { name: 'Save' }));
  expect(screen.getByRole('alert').textContent).toBe('There are 100 already.');
  expect(screen.getByText('Choose one')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Save' }));
});

test('an error that the form shows at a field is not said twice', async () => {
  await sent(new ApiError(409, 'EMAIL_TAKEN', 'The address is taken.'));
  expect(screen.queryByRole('alert')).toBeNull();
  expect(document.activeElement).toBe(screen.getByLabelText(/^E-mail/));
});
