import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { OauthApplication } from "../../../db/schema/index.ts";
import {
  createApplication,
  type NewApplication,
  type WithSecret,
} from "../../../domain/people/oauth/create-application.ts";
import { deleteApplication } from "../../../domain/people/oauth/delete-application.ts";
import { editApplication } from "../../../domain/people/oauth/edit-application.ts";
import { findApplication } from "../../../domain/people/oauth/find-application.ts";
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
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { CopyButton } from "../copy-button.tsx";
import { CheckField, GeneralFault, AreaField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
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
  const { ctx, user } = page;
  return orRefuse(
    c,
    async () =>
      render(c, page, { created: await createApplication(ctx, user, readApplication(form)) }),
    (refusal) => render(c, page, { state: FormState.refused(form, refusal) }),
  );
});

applications.get(`${PATH}/oauth2/:id{[0-9]+}`, async (c) => {
  const page = await openOwnPage(c);
  const application = await findApplication(page.ctx, page.user, readId(c.req.param("id")));
  return renderApplication(c, page, application, FormState.fresh(toFields(application)));
});

applications.post(`${PATH}/oauth2/:id{[0-9]+}`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  const id = readId(c.req.param("id"));
  return orRefuse(
    c,
    async () =>
      render(c, page, { created: await editApplication(ctx, user, id, readApplication(form)) }),
    async (refusal) =>
      renderApplication(
        c,
        page,
        await findApplication(ctx, user, id),
        FormState.refused(form, refusal),
      ),
  );
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

/** @throws Failure `invalid` for what the API refuses, too. */
function readApplication(form: SentForm): NewApplication {
  const name = form.line("name", NAME_LENGTH_MAX);
  if (name === "") throw invalidField("name", "must not be empty");
  const redirectUris = readLines(form, "redirect_uris");
  if (redirectUris.length > REDIRECT_URIS_MAX) {
    throw invalidField("redirect_uris", `must be at most ${REDIRECT_URIS_MAX}`);
  }
  const isValid = (uri: string) => uri.length <= REDIRECT_URI_LENGTH_MAX && isRedirectUri(uri);
  const wrong = redirectUris.find((uri) => !isValid(uri));
  if (wrong !== undefined) {
    throw invalidField("redirect_uris", `${REDIRECT_URI_RULE}, unlike ${wrong}`);
  }
  return {
    name,
    redirectUris,
    isConfidential: form.isSet("confidential_client"),
    skipsConsent: form.isSet("skip_secondary_authorization"),
  };
}

const toFields = ({ name, redirectUris }: OauthApplication): Record<string, string> => ({
  name,
  redirect_uris: redirectUris.join("\n"),
});

/** The outcome of the form that was sent. */
interface Outcome {
  /** The form of a new application, as it was refused. */
  state?: FormState;
  created?: WithSecret;
}

/** Own applications on the page; the API lists all. */
const LISTED = { size: 200, offset: 0 };

async function render(c: Context<WebEnv>, page: OwnPage, { state, created }: Outcome = {}) {
  const [granted, own] = await Promise.all([
    listGranted(page.ctx, page.user),
    listApplications(page.ctx, page.user, LISTED),
  ]);
  return renderSettings(
    c,
    page,
    { part: "applications", status: state?.refusal?.status ?? 200 },
    <>
      {created ? <NewSecret created={created} /> : undefined}
      <Granted page={page} granted={granted} />
      <Own page={page} own={own.items} state={state ?? FormState.fresh()} />
    </>,
  );
}

function NewSecret({ created: { application, secret } }: { created: WithSecret }) {
  return (
    <section class="card" aria-labelledby="secret" role="status">
      <h2 id="secret">{`The secret of ${application.name}`}</h2>
      <p>Copy the secret now: it is shown this once.</p>
      <dl>
        <dt>Client ID</dt>
        <dd>
          <code>{application.clientId}</code>
        </dd>
        <dt>Client secret</dt>
        <dd>
          <code>{secret}</code> <CopyButton text={secret} />
        </dd>
      </dl>
    </section>
  );
}

/** The repositories to which an application's access is bound, in words. */
function toBinding({ repositories }: GrantedApplication): string {
  if (repositories === null) return "";
  return repositories.length === 0
    ? ", only in repositories that you see no more"
    : `, only in ${repositories.join(", ")}`;
}

/** Where an application comes from. */
function Origin({ registration, ownerName, clientId }: GrantedApplication) {
  switch (registration) {
    case "manual":
      return <>{ownerName === null ? "" : `Registered by ${ownerName}. `}</>;
    case "dynamic":
      return <>Registered itself. </>;
    case "document":
      return (
        <>
          Described at <code>{clientId}</code>.{" "}
        </>
      );
    default:
      return registration satisfies never;
  }
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
                <Origin {...each} />
                Granted <Time at={each.grantedAt} />, last used <Time at={each.lastUsedAt} />.
                Scopes: <code>{formatScope(each)}</code>
                {toBinding(each)}.
              </div>
            </div>
            <ConfirmMenu
              label="Revoke"
              subject={`the access of ${each.name}`}
              action={`${PATH}/revoke`}
              formToken={page.formToken}
              fields={{ id: String(each.applicationId) }}
              button={`Revoke the access of ${each.name}`}
            >
              <p>All of its tokens end at once.</p>
            </ConfirmMenu>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface OwnProps {
  page: OwnPage;
  own: readonly OauthApplication[];
  /** Of the form of a new one. */
  state: FormState;
}

function Own({ page, own, state }: OwnProps) {
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
            <a class="button small" href={`${PATH}/oauth2/${each.id}`}>
              Edit<span class="hidden">{` ${each.name}`}</span>
            </a>
            <ConfirmMenu
              label="Delete"
              subject={each.name}
              action={`${PATH}/oauth2/delete`}
              formToken={page.formToken}
              fields={{ id: String(each.id) }}
              button={`Delete ${each.name}`}
            >
              <p>All access that users granted to it ends.</p>
            </ConfirmMenu>
          </li>
        ))}
      </ul>
      <h3>Register an application</h3>
      <ApplicationForm
        action={`${PATH}/oauth2`}
        formToken={page.formToken}
        state={state}
        button="Register"
      />
    </section>
  );
}

function renderApplication(
  c: Context<WebEnv>,
  page: OwnPage,
  application: OauthApplication,
  state: FormState,
) {
  return renderSettings(
    c,
    page,
    { part: "applications", status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="application">
      <h2 id="application">{`Edit ${application.name}`}</h2>
      <p>Saving gives it a new secret. The old one is refused from then on.</p>
      <ApplicationForm
        action={`${PATH}/oauth2/${application.id}`}
        formToken={page.formToken}
        state={state}
        application={application}
        button="Save and renew the secret"
      />
    </section>,
  );
}

interface ApplicationFormProps {
  action: string;
  formToken: string;
  state: FormState;
  application?: OauthApplication;
  button: string;
}

const ApplicationForm = (props: ApplicationFormProps) => {
  const { action, formToken, state, application, button } = props;
  return (
    <>
      <GeneralFault state={state} fields={["name", "redirect_uris"]} />
      <Form action={action} formToken={formToken}>
        <Field label="Name" {...state.of("name")} maxlength={NAME_LENGTH_MAX} />
        <AreaField
          state={state}
          label="Redirect URIs"
          name="redirect_uris"
          hint="One in each line. They must match exactly."
          isOptional
        />
        <CheckField
          state={state}
          label="The application runs on a server, and keeps its secret"
          name="confidential_client"
          isSetAtFirst={application?.isConfidential ?? true}
        />
        <CheckField
          state={state}
          label="Users who granted access once are not asked again"
          name="skip_secondary_authorization"
          isSetAtFirst={application?.skipsConsent ?? false}
        />
        <button type="submit" class="primary">
          {button}
        </button>
      </Form>
    </>
  );
};
