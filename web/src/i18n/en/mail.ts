import { addWords } from '../words';

export const mail = {
  'reset.page': 'New password',
  'reset.title': 'Forgot your password?',
  'reset.lead': 'We send you a link to set a new one.',
  'reset.what': 'This page',
  'reset.off': 'Ask whoever runs the service to reset it.',
  'reset.send': 'Send the link',
  'reset.sending': 'Sending…',
  'reset.sent.title': 'Look into your mail',
  'reset.sent.body': 'If there is an account with this e-mail, a link is on its way. It works for an hour.',
  'reset.sent.again': 'Nothing there? Look among unwanted mail, or {link}.',
  'reset.sent.againLink': 'send another one',
  'reset.toSignIn': 'Back to sign-in',
  'reset.new.title': 'Set a new password',
  'reset.new.lead': 'It signs you out everywhere else.',
  'reset.new.label': 'New password',
  'reset.new.button': 'Set password',
  'reset.new.busy': 'Setting…',
  'reset.gone.title': 'This link no longer works',
  'reset.gone.body': 'It works for an hour, and once. Your password is as it was.',
  'reset.gone.button': 'Send a new link',

  'verify.page': 'Confirm your e-mail',
  'verify.title': 'Confirm your e-mail',
  'verify.lead': 'You opened the link that we sent you.',
  'verify.button': 'Confirm',
  'verify.busy': 'Confirming…',
  'verify.done.title': 'Your e-mail is confirmed',
  'verify.done.body': 'There is nothing else to do.',
  'verify.done.go': 'Go to overview',
  'verify.gone.title': 'This link no longer works',
  'verify.gone.body':
    'It works for 7 days, and once. Your profile says whether your e-mail is confirmed, and sends a new link.',
  'verify.gone.go': 'Go to your profile',
  'verify.none.title': 'Open the link in the mail again',
  'verify.none.body': 'For your safety this page keeps nothing of it.',

  'confirmEmail.ask': 'It is not confirmed yet. Confirm it by a link.',
  'confirmEmail.again': 'Send the link',
  'confirmEmail.sending': 'Sending…',
  'confirmEmail.sent': 'A new link is on its way.',
  'confirmEmail.tooOften': 'Three links an hour are sent. Try again in {time}.',
} as const;

addWords(mail);
