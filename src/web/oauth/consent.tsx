import type { Context } from "hono";

import type { TokenAudience } from "../../auth/audience.ts";
import {
  type Addressed,
  type AuthorizationRequest,
  REQUEST_PARAMETERS,
} from "../../domain/people/oauth/authorization-request.ts";
import { REFRESH_LIFE_MS } from "../../domain/people/oauth/grant-secrets.ts";
import {
  isLocalRedirectUri,
  isWeb,
  redirectHostOf,
} from "../../domain/people/oauth/redirect-uri.ts";
import type { LevelChoice } from "../../domain/people/oauth/requested-scopes.ts";
import type { WebEnv } from "../env.ts";
import { GeneralFault } from "../pages/create/fields.tsx";
import { FormState } from "../pages/create/form-state.ts";
import type { Form as SentForm } from "../pages/form.ts";
import { Field, Form } from "../pages/layout.tsx";
import type { OwnPage } from "../pages/open-page.ts";
import { renderPage } from "../pages/render-page.tsx";
import { ScopeField, scopeFieldOf } from "../pages/scope-field.tsx";
import { type Category, ScopeWords } from "../pages/scope-words.tsx";

/** The form by which a user grants access. */
export const GRANT_PATH = "/login/oauth/grant";

/** A name of a repository with its owner's. */
const REPOSITORY_CHARS_MAX = 300;

/** What the user chose for a category. */
export function readChoice(form: SentForm, category: string): LevelChoice {
  const value = form.text(scopeFieldOf(category));
  return value === "write" || value === "read" || value === "none" ? value : undefined;
}

/** The full name of the repository to which the user binds the grant; "" for none. */
export const readRepository = (form: SentForm): string =>
  form.line("repository", REPOSITORY_CHARS_MAX);

/** Asks the user, in words, whether a client may act for them. */
export function renderConsent(
  c: Context<WebEnv>,
  page: OwnPage,
  addressed: Addressed,
  request: AuthorizationRequest,
  parameters: URLSearchParams,
  state: FormState = FormState.fresh(),
) {
  const { application, redirectUri } = addressed;
  const { requested } = request;
  const isAgent = application.registration !== "manual" || request.audience !== null;
  return renderPage(
    c,
    page,
    {
      title: "Grant access",
      status: state.refusal?.status ?? 200,
      formTargets: [formTargetOf(redirectUri)],
    },
    <section class="card narrow">
      <h1>Grant access to {application.name}?</h1>
      <GeneralFault state={state} fields={["repository"]} />
      <p>
        <Identity {...addressed} /> asks for access to your account{" "}
        <strong>{page.user.name}</strong>. It will act in your name, and be able to:
      </p>
      <ScopeWords
        {...requested}
        changesOf={(category) => CHANGES[request.audience ?? "service"][category]}
      />
      {request.audience === "mcp" ? (
        <p>
          All this by the tools for agents alone, which do nothing that you may not do yourself. An
          agent may follow instructions that it finds in what it reads, such as issues of others.
        </p>
      ) : undefined}
      <p>
        It keeps this access until you <a href="/user/settings/applications">revoke it</a> in your
        settings, or until it has not used it for {Math.floor(REFRESH_LIFE_MS / DAY_MS)} days.
      </p>
      <Form action={GRANT_PATH} formToken={page.formToken}>
        {REQUEST_PARAMETERS.filter((name) => parameters.has(name)).map((name) => (
          <input type="hidden" name={name} value={parameters.get(name) ?? ""} />
        ))}
        {requested.scopes.levels.size > 0 ? (
          <Limits request={request} state={state} isOpen={isAgent || state.refusal !== undefined} />
        ) : undefined}
        <Destination redirectUri={redirectUri} />
        <button type="submit" name="granted" value="true" class="primary wide">
          Grant access
        </button>
        <button type="submit" name="granted" value="false" class="wide">
          Refuse
        </button>
      </Form>
    </section>,
  );
}

/** What a client may change by the scopes of a category, at the door that its tokens are for. */
const CHANGES: Readonly<Record<TokenAudience | "service", Partial<Record<Category, string>>>> = {
  mcp: {
    repository: "It commits to branches, opens, reviews and merges pull requests, makes releases.",
    issue: "It opens, edits, labels and closes issues, and comments under your name.",
    notification: "It marks notifications as read.",
    user: "It makes repositories of yours.",
  },
  service: {
    repository:
      "It pushes to branches, merges pull requests, makes releases, changes settings, and deletes repositories.",
    issue: "It opens, edits, labels and closes issues, and comments under your name.",
    package: "It publishes and deletes packages.",
    organization: "It changes the organizations and teams that you administer, and their members.",
    user: "It changes your profile, addresses and keys.",
    admin: "It changes accounts and settings of others, if you administer this service.",
  },
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** Who asks, as far as that is known. */
function Identity({ application, ownerName }: Addressed) {
  switch (application.registration) {
    case "manual":
      return ownerName === null ? (
        <>A tool that this service knows</>
      ) : (
        <>{`An application that ${ownerName} registered`}</>
      );
    case "dynamic":
      return (
        <>
          A program that registered itself, and whose name <strong>nobody has checked</strong>,
        </>
      );
    case "document":
      return (
        <>
          A program of <strong>{new URL(application.clientId).host}</strong>, which describes it at{" "}
          <code class="wrap">{application.clientId}</code>,
        </>
      );
    default:
      return application.registration satisfies never;
  }
}

function Destination({ redirectUri }: { redirectUri: string }) {
  const host = redirectHostOf(redirectUri);
  return isLocalRedirectUri(redirectUri) ? (
    <p>
      Then you are led to <strong>{host}</strong>, a program on the machine that you are using. Any
      program there can call itself by this name: grant access only if you began this yourself just
      now.
    </p>
  ) : (
    <p>
      Then you are led to <strong>{host}</strong>. Grant access only if you began this yourself, and
      trust the person who is there.
    </p>
  );
}

interface LimitsProps {
  request: AuthorizationRequest;
  state: FormState;
  isOpen: boolean;
}

/** The choices by which the user grants less than is asked for. */
function Limits({ request: { requested }, state, isOpen }: LimitsProps) {
  return (
    <details open={isOpen}>
      <summary>Grant less</summary>
      <div class="scopes">
        {[...requested.scopes.levels].map(([category, asked]) => (
          <ScopeField
            category={category}
            value={state.valueOf(scopeFieldOf(category), asked)}
            most={asked}
          />
        ))}
      </div>
      <Field
        {...state.of("repository")}
        label="Only in one repository"
        hint="As in owner/name. Empty for all that you may see."
        isOptional
        maxlength={REPOSITORY_CHARS_MAX}
      />
    </details>
  );
}

/** The address to which the form's redirect leads, as a source of the page's policy. */
function formTargetOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  const { protocol, host } = url;
  // Policies know no IPv6 addresses.
  return isWeb(url) && !host.startsWith("[") ? `${protocol}//${host}` : protocol;
}
