import type { Schemas } from '@/api/client';
import { word } from './delivery';

export type Permission = Schemas['Permission'];
// Each permission, and whether the form for a new token has it chosen.
const PERMISSIONS = {
  'deliveries:read': true,
  'deliveries:write': true,
  'presets:read': true,
  integrations: true,
  subscriptions: true,
  'deliveries:any_file': false,
  login: false,
} satisfies Record<Permission, boolean>;
export const ALL_PERMISSIONS = Object.keys(PERMISSIONS) as Permission[];
export const USUAL = ALL_PERMISSIONS.filter((permission) => PERMISSIONS[permission]);

export const permissionWord = (permission: string) => word('permission', permission);
export const hasUsual = (permissions: string[]) =>
  permissions.length === USUAL.length && USUAL.every((one) => permissions.includes(one));
// "Read deliveries and orders, read presets".
export const permissionList = (permissions: string[]) =>
  permissions
    .map(permissionWord)
    .map((words, index) => (index === 0 ? words : words.charAt(0).toLowerCase() + words.slice(1)))
    .join(', ');
