import '@/i18n/en/people';
import type { Schemas } from '@/api/client';
import { word } from '@/vocabulary/delivery';

export const ROLES = ['member', 'owner'] as const satisfies Schemas['Role'][];
export const roleWord = (role: string) => word('role', role);
