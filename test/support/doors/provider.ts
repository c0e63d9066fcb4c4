import type { User } from "../../../src/db/schema/index.ts";
import type { BoundRepository } from "../../../src/domain/people/tokens/find-visible-repositories.ts";
import { type Answer, uncounted, visit } from "../call.ts";
import { make } from "../make.ts";
import {
  CALLBACK,
  clientFields,
  exchange,
  makeApplication,
  makeCodeFor,
  makeTokens,
  postForm,
  refresh,
  register,
  type TestApplication,
} from "../oauth.ts";
import { door } from "./door.ts";

/** What a user granted an application. */
export interface Granted {
  readonly user: User;
  readonly application: TestApplication;
  readonly access: string;
  readonly refresh: string;
  readonly repository: BoundRepository;
}

export async function makeGranted(): Promise<Granted> {
  const user = await make.user();
  const application = await makeApplication(user);
  const scope = "openid profile email groups";
  const repo = await make.repo(user);
  const repository = { id: repo.id, fullName: `${repo.owner}/${repo.name}` };
  return { user, application, repository, ...(await makeTokens(user, application, { scope })) };
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
    "the registration of a client": () =>
      register({ redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" }),
    "tokens of a grant for one repository": async ({ user, application, repository }) =>
      exchange(application, await makeCodeFor(user, application, { repository })),
    "the end of a token": async (granted) => {
      const { access } = await makeFresh(granted);
      return postForm("revoke", { token: access, ...clientFields(granted.application) });
    },
  },
});
