import type { Child, PropsWithChildren } from "hono/jsx";

import type { User } from "../../db/schema/index.ts";
import { EDGEFORGE_VERSION } from "../../domain/version.ts";
import { accountPath } from "./addresses.ts";
import { Avatar } from "./avatar.tsx";
import { FORM_TOKEN_FIELD } from "./form.ts";
import { Icon } from "./icon.tsx";
import { type PageFile, pageFilePath } from "./page-file.ts";

/** The subject of a page. */
export interface PageMeta {
  url: string;
  title: string;
  description: string;
  /** The URL of a picture. */
  image?: string;
  /** The URL of the repository that `go get` finds by the page. */
  cloneUrl?: string;
}

/** A feed, by its path. */
export interface Feed {
  path: string;
  title: string;
}

interface LayoutProps {
  title: string;
  appName: string;
  /** The signed-in reader. */
  user: User | undefined;
  formToken: string;
  unreadCount: number;
  /** The page's own scripts. */
  scripts: readonly PageFile[];
  /** Whether the page says why a request was refused. */
  isRefused: boolean;
  /** Whether search engines may list the page. */
  isListed: boolean;
  meta: PageMeta | undefined;
  feeds: readonly Feed[];
}

/** Themes of Gitea that name one of our two sets of colors; others are as the device has them. */
const COLORS: ReadonlyMap<string, "light" | "dark"> = new Map([
  ["gitea-light", "light"],
  ["gitea-dark", "dark"],
]);

/** The frame of every page. */
export function Layout(props: PropsWithChildren<LayoutProps>) {
  const { title, appName, user, scripts, isRefused, isListed, meta, feeds, children } = props;
  return (
    <html lang="en" data-colors={user && COLORS.get(user.theme)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {isListed ? undefined : <meta name="robots" content="noindex" />}
        {meta ? <Meta meta={meta} appName={appName} /> : undefined}
        <title>{`${title} - ${appName}`}</title>
        <link rel="icon" href={pageFilePath("favicon.svg")} />
        <link rel="stylesheet" href={pageFilePath("style.css")} />
        {feeds.map(({ path, title: feedTitle }) => (
          <link rel="alternate" type="application/atom+xml" href={path} title={feedTitle} />
        ))}
        {(["common.ts", ...scripts] as const).map((script) => (
          <script type="module" src={pageFilePath(script)} />
        ))}
      </head>
      <body data-reader={user?.id}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="bar">
          <div class="bar-inner">
            <a class="brand" href="/">
              {appName}
            </a>
            <nav class="places" aria-label="Service">
              {user ? (
                <>
                  <a href="/issues">Issues</a>
                  <a href="/pulls">Pull requests</a>
                  <a href="/milestones">Milestones</a>
                </>
              ) : undefined}
              <a href="/explore/repos">Explore</a>
            </nav>
            <form class="search" action="/explore/repos" role="search" aria-label="Service">
              <input
                type="search"
                name="q"
                aria-label="Search repositories"
                placeholder="Search"
                data-key="/"
              />
            </form>
            {user ? <ReaderBar {...props} user={user} /> : <SignInLink />}
          </div>
        </header>
        <main id="main" tabindex={-1} data-refused={isRefused ? "" : undefined}>
          {children}
        </main>
        <footer>
          <span>{`Edgeforge ${EDGEFORGE_VERSION}`}</span>
          <a href="/docs">Documentation</a>
          <a href="/api/swagger">API</a>
          <button type="button" class="plain scripted" data-key="?">
            Keys
          </button>
        </footer>
      </body>
    </html>
  );
}

/** The path by which Go imports a repository: `example.com/alice/project`. */
const importPathOf = (cloneUrl: string): string =>
  cloneUrl.replace(/^https?:\/\//, "").replace(/\.git$/, "");

function Meta({ meta, appName }: { meta: PageMeta; appName: string }) {
  const { url, title, description, image, cloneUrl } = meta;
  return (
    <>
      <meta property="og:title" content={title} />
      <meta property="og:url" content={url} />
      <meta property="og:type" content="object" />
      <meta property="og:site_name" content={appName} />
      {image === undefined ? undefined : <meta property="og:image" content={image} />}
      {description === "" ? undefined : (
        <>
          <meta name="description" content={description} />
          <meta property="og:description" content={description} />
        </>
      )}
      {cloneUrl === undefined ? undefined : (
        <meta name="go-import" content={`${importPathOf(cloneUrl)} git ${cloneUrl}`} />
      )}
    </>
  );
}

function SignInLink() {
  return (
    <nav class="account" aria-label="Account">
      <a href="/user/login">Sign in</a>
    </nav>
  );
}

type ReaderBarProps = Pick<LayoutProps, "formToken" | "unreadCount"> & { user: User };

/** Greater numbers are not shown. */
const COUNT_MAX = 99;

function ReaderBar({ user, formToken, unreadCount }: ReaderBarProps) {
  const label = `${unreadCount} unread notification${unreadCount === 1 ? "" : "s"}`;
  const path = accountPath(user);
  return (
    <nav class="account" aria-label="Account">
      <details class="menu end">
        <summary aria-label="Create">
          <Icon name="plus" />
        </summary>
        <ul class="menu-body">
          <li>
            <a href="/repo/create">New repository</a>
          </li>
          <li>
            <a href="/repo/migrate">New migration</a>
          </li>
          <li>
            <a href="/org/create">New organization</a>
          </li>
        </ul>
      </details>
      <a class="bell" href="/notifications" aria-label={label} title={label}>
        <Icon name="bell" />
        {unreadCount === 0 ? undefined : (
          <span class="bubble">{unreadCount > COUNT_MAX ? `${COUNT_MAX}+` : unreadCount}</span>
        )}
      </a>
      <details class="menu end">
        <summary aria-label={`Menu of ${user.name}`}>
          <Avatar account={user} size={24} />
        </summary>
        <ul class="menu-body">
          <li class="soft">
            Signed in as <strong>{user.name}</strong>
          </li>
          <li>
            <a href={path}>Your page</a>
          </li>
          <li>
            <a href={`${path}?tab=repositories`}>Your repositories</a>
          </li>
          <li>
            <a href={`${path}?tab=organizations`}>Your organizations</a>
          </li>
          <li>
            <a href={`${path}?tab=stars`}>Your stars</a>
          </li>
          <li>
            <a href="/user/settings">Settings</a>
          </li>
          {user.isAdmin ? (
            <li>
              <a href="/-/admin">Administration</a>
            </li>
          ) : undefined}
          <li>
            <Form action="/user/logout" formToken={formToken}>
              <button type="submit" class="plain">
                Sign out
              </button>
            </Form>
          </li>
        </ul>
      </details>
    </nav>
  );
}

interface FormProps {
  action: string;
  formToken: string;
  class?: string;
  id?: string;
  /** For a form with files, which `receiveFormWithFiles` reads. */
  enctype?: "multipart/form-data";
}

/** A form that `readForm` accepts. */
export function Form(props: PropsWithChildren<FormProps>) {
  const { formToken, children, ...attributes } = props;
  return (
    <form method="post" {...attributes}>
      <input type="hidden" name={FORM_TOKEN_FIELD} value={formToken} />
      {children}
    </form>
  );
}

/** A notice of success or failure, which screen readers announce at once. */
export function Notice({ kind, children }: PropsWithChildren<{ kind: "error" | "done" }>) {
  return (
    <p class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {children}
    </p>
  );
}

interface FieldProps {
  label: string;
  name: string;
  /** Where a page has several fields of a name. */
  id?: string;
  type?: "text" | "password" | "email" | "date" | "color";
  value?: string | undefined;
  autocomplete?: string;
  /** Below the field. */
  hint?: string | undefined;
  isOptional?: boolean;
  /** Whether it is the one to begin with, unless another one is refused. */
  isFirst?: boolean;
  isFaultElsewhere?: boolean;
  inputmode?: "numeric";
  maxlength?: number;
  /** The id of the names that it offers. */
  list?: string;
  /** Why it was refused. */
  fault?: string | undefined;
}

/** A labelled line of a form. */
export function Field(props: FieldProps) {
  const {
    label,
    name,
    id = name,
    hint,
    isOptional = false,
    isFirst = false,
    isFaultElsewhere = false,
    type = "text",
    fault,
    ...rest
  } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        required={!isOptional}
        {...fieldAttributes(id, fault, hint)}
        autofocus={fault !== undefined || (isFirst && !isFaultElsewhere)}
        autocapitalize="none"
        spellcheck={false}
        {...rest}
      />
      <Fault id={`${id}-fault`} text={fault} />
      <Hint id={`${id}-hint`} text={hint} />
    </div>
  );
}

/** How a field says why it was refused and what it is for; one that was refused has the focus. */
export function fieldAttributes(id: string, fault: string | undefined, hint: Child | undefined) {
  const ids = [fault === undefined ? "" : `${id}-fault`, hint === undefined ? "" : `${id}-hint`];
  return {
    autofocus: fault !== undefined,
    "aria-invalid": fault === undefined ? undefined : ("true" as const),
    "aria-describedby": ids.filter((each) => each !== "").join(" ") || undefined,
  };
}

/** What a field is for, below it. */
export function Hint({ id, text }: { id: string | undefined; text: string | undefined }) {
  if (text === undefined) return <></>;
  return (
    <p class="hint" id={id}>
      {text}
    </p>
  );
}

/** Why a field was refused, below it. */
export function Fault({ id, text }: { id: string | undefined; text: string | undefined }) {
  if (text === undefined) return <></>;
  return (
    <p class="fault" id={id} role="alert">
      {text}
    </p>
  );
}
