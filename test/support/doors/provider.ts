import type { User } from "../../../src/db/schema/index.ts";
import { type Answer, uncounted, visit } from "../call.ts";
import { make } from "../make.ts";
import {
  clientFields,
  exchange,
  makeApplication,
  makeCodeFor,
  makeTokens,
  postForm,
  refresh,
  type TestApplication,
} from "../oauth.ts";
import { door } from "./door.ts";

/** What a user granted an application. */
export interface Granted {
  readonly user: User;
  readonly application: TestApplication;
  readonly access: string;
  readonly refresh: string;
}

export async function makeGranted(): Promise<Granted> {
  const user = await make.user();
  const application = await makeApplication(user);
  const scope = "openid profile email groups";
  return { user, application, ...(await makeTokens(user, application, { scope })) };
}

const introspect = ({ application }: Granted, token: string): Promise<Answer> =>
  postForm("introspect", { token, ...clientFields(application) });

export const PROVIDER_READS: Readonly<Record<string, (granted: Granted) => Promise<Answer>>> = {
  userinfo: ({ access }) =>
    visit("GET", "/login/oauth/userinfo", { headers: { Authorization: `Bearer ${access}` } }),
  "introspection of an access token": (granted) => introspect(granted, granted.access),
  "introspection of a refresh token": (granted) => introspect(granted, granted.refresh),
};

/** Tokens of a new grant, for one request. */
const makeFresh = ({ user, application }: Granted) =>
  uncounted(() => makeTokens(user, application));

/** Requests of an application to the provider. */
export const PROVIDER = door<Granted>({
  open: makeGranted,
  requests: {
    ...PROVIDER_READS,
    "tokens for a code": async ({ user, application }) =>
      exchange(application, await makeCodeFor(user, application)),
    "tokens for a refresh token": async (granted) =>
      refresh(granted.application, (await makeFresh(granted)).refresh),
    "the end of a token": async (granted) => {
      const { access } = await makeFresh(granted);
      return postForm("revoke", { token: access, ...clientFields(granted.application) });
    },
  },
});
