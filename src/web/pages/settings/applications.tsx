import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { OauthApplication } from "../../../db/schema/index.ts";
import {
  createApplication,
  type WithSecret,
} from "../../../domain/people/oauth/create-application.ts";
import { deleteApplication } from "../../../domain/people/oauth/delete-application.ts";
import { listApplications } from "../../../domain/people/oauth/list-applications.ts";
import { type GrantedApplication, listGranted } from "../../../domain/people/oauth/list-granted.ts";
import {
  isRedirectUri,
  REDIRECT_URI_LENGTH_MAX,
  REDIRECT_URI_RULE,
  REDIRECT_URIS_MAX,
} from "../../../domain/people/oauth/redirect-uri.ts";
import { formatScope } from "../../../domain/people/oauth/requested-scopes.ts";
import { revokeGrants } from "../../../domain/people/oauth/revoke-grants.ts";
import type { WebEnv } from "../../env.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { Time } from "../time.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/applications";
const NAME_LENGTH_MAX = 256;

/** Applications that have access to the reader's account, and those that the reader registered. */
export const applications = new Hono<WebEnv>({ router: new TrieRouter() });

applications.get(PATH, async (c) => render(c, await openOwnPage(c)));

applications.post(`${PATH}/revoke`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await revokeGrants(ctx, user, readId(form.text("id")));
  return redirectAfterWrite(c, PATH);
});

applications.post(`${PATH}/oauth2`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  const input = {
    name: form.text("name").trim(),
    redirectUris: readLines(form, "redirect_uris"),
    isConfidential: form.text("confidential_client") !== "",
    skipsConsent: false,
  };
  const refusal = refusalOf(input);
  if (refusal !== undefined) return render(c, page, { refusal });
  return render(c, page, { created: await createApplication(page.ctx, page.user, input) });
});

applications.post(`${PATH}/oauth2/delete`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await deleteApplication(ctx, user, readId(form.text("id")));
  return redirectAfterWrite(c, PATH);
});

const readLines = (form: SentForm, name: string): string[] =>
  form
    .text(name)
    .split(/\s+/)
    .filter((line) => line !== "");

function refusalOf({ name, redirectUris }: { name: string; redirectUris: string[] }) {
  if (name === "" || name.length > NAME_LENGTH_MAX) {
    return `The name must have from 1 to ${NAME_LENGTH_MAX} characters.`;
  }
  if (redirectUris.length > REDIRECT_URIS_MAX) {
    return `There are at most ${REDIRECT_URIS_MAX} redirect URIs.`;
  }
  const isValid = (uri: string) => uri.length <= REDIRECT_URI_LENGTH_MAX && isRedirectUri(uri);
  const wrong = redirectUris.find((uri) => !isValid(uri));
  return wrong === undefined ? undefined : `The redirect URI ${wrong} ${REDIRECT_URI_RULE}.`;
}

/** The outcome of the form that was sent. */
interface Outcome {
  refusal?: string;
  created?: WithSecret;
}

/** Own applications on the page; the API lists all. */
const LISTED = { size: 200, offset: 0 };

async function render(c: Context<WebEnv>, page: OwnPage, { refusal, created }: Outcome = {}) {
  const [granted, own] = await Promise.all([
    listGranted(page.ctx, page.user),
    listApplications(page.ctx, page.user, LISTED),
  ]);
  return renderSettings(
    c,
    page,
    {
      part: "applications",
      refusal: refusal === undefined ? undefined : { text: refusal, status: 422 },
    },
    <>
      {created ? <NewSecret created={created} /> : undefined}
      <Granted page={page} granted={granted} />
      <Own page={page} own={own.items} />
    </>,
  );
}

function NewSecret({ created: { application, secret } }: { created: WithSecret }) {
  return (
    <section class="card" aria-labelledby="secret" role="status">
      <h2 id="secret">{application.name} is registered</h2>
      <p>Copy the secret now: it is shown this once.</p>
      <dl>
        <dt>Client ID</dt>
        <dd>
          <code>{application.clientId}</code>
        </dd>
        <dt>Client secret</dt>
        <dd>
          <code>{secret}</code>
        </dd>
      </dl>
    </section>
  );
}

function Granted({ page, granted }: { page: OwnPage; granted: readonly GrantedApplication[] }) {
  return (
    <section class="card" aria-labelledby="granted">
      <h2 id="granted">Applications with access</h2>
      <p>
        {granted.length === 0
          ? "No application has access to your account."
          : "Revoking ends all tokens of an application at once."}
      </p>
      <ul class="list">
        {granted.map((each) => (
          <li>
            <div class="grow">
              <div>{each.name}</div>
              <div class="soft">
                {each.ownerName === null ? undefined : `Registered by ${each.ownerName}. `}
                Granted <Time at={each.grantedAt} />, last used <Time at={each.lastUsedAt} />.
                Scopes: <code>{formatScope(each)}</code>
              </div>
            </div>
            <Form action={`${PATH}/revoke`} formToken={page.formToken}>
              <input type="hidden" name="id" value={String(each.applicationId)} />
              <button type="submit" class="danger">
                Revoke<span class="hidden"> the access of {each.name}</span>
              </button>
            </Form>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Own({ page, own }: { page: OwnPage; own: readonly OauthApplication[] }) {
  return (
    <section class="card" aria-labelledby="own">
      <h2 id="own">Your OAuth2 applications</h2>
      <p>Programs that you run, and that ask users of this service for access.</p>
      <ul class="list">
        {own.map((each) => (
          <li>
            <div class="grow">
              <div>{each.name}</div>
              <div class="soft">
                {each.isConfidential ? "Confidential" : "Public"} client{" "}
                <code>{each.clientId}</code>, registered <Time at={each.createdAt} />.
              </div>
            </div>
            <Form action={`${PATH}/oauth2/delete`} formToken={page.formToken}>
              <input type="hidden" name="id" value={String(each.id)} />
              <button type="submit" class="danger">
                Delete<span class="hidden"> {each.name} and all access to it</span>
              </button>
            </Form>
          </li>
        ))}
      </ul>
      <h3>Register an application</h3>
      <Form action={`${PATH}/oauth2`} formToken={page.formToken}>
        <Field label="Name" name="name" maxlength={NAME_LENGTH_MAX} />
        <div class="field">
          <label for="redirect_uris">Redirect URIs</label>
          <textarea
            id="redirect_uris"
            name="redirect_uris"
            rows={3}
            spellcheck={false}
            aria-describedby="redirect_uris-hint"
          />
          <p class="hint" id="redirect_uris-hint">
            One in each line. They must match exactly.
          </p>
        </div>
        <label class="check field">
          <input type="checkbox" name="confidential_client" value="true" checked />
          The application runs on a server, and keeps its secret
        </label>
        <button type="submit">Register</button>
      </Form>
    </section>
  );
}
