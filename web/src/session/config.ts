// The service's settings that the sign-in needs (GET /api/auth/config).
import { queryOptions } from '@tanstack/react-query';
import { errorOfAnswer, errorOfNetwork } from '@/api/errors';
import { nameCloud } from '@/i18n/names';

export type SignInConfig = {
  signup: 'open' | 'invite' | 'closed';
  passwords: boolean;
  mail: boolean;
  sandbox: boolean;
  issuers: { id: string; name: string; startUrl: string }[];
  cloud: { name: string; friendRequestsUrl: string | null; appUrl: string | null };
  supportUrl: string | null;
};

export const signInConfig = () =>
  queryOptions({
    queryKey: ['sign-in config'],
    staleTime: Infinity,
    queryFn: async (): Promise<SignInConfig> => {
      const response = await fetch('/api/auth/config').catch(() => {
        throw errorOfNetwork();
      });
      const answer: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw errorOfAnswer(response, answer);
      const config = answer as SignInConfig;
      nameCloud(config.cloud.name);
      return config;
    },
  });
