// Fields of passwords and of other secrets that are typed. The button in the field says what it does, and is reached by the keyboard.
import { PasswordInput } from '@mantine/core';
import { useState, type ComponentProps } from 'react';
import { t } from '@/i18n/text';

type Props = ComponentProps<typeof PasswordInput>;

export function PasswordField(props: Props) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      size="md"
      visible={visible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{
        'aria-label': t(visible ? 'signIn.hidePassword' : 'signIn.showPassword'),
        'aria-hidden': false,
        tabIndex: 0,
      }}
      {...props}
    />
  );
}

// A password that is chosen, with what it needs.
export const NewPasswordField = (props: Props) => (
  <PasswordField
    label={t('signIn.password')}
    description={t('signUp.passwordHint')}
    inputWrapperOrder={['label', 'input', 'description', 'error']}
    name="password"
    autoComplete="new-password"
    required
    minLength={10}
    {...props}
  />
);
