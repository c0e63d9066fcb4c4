import { TOTP } from "otpauth";

import { only } from "../../src/lib/only.ts";
import { Browser } from "./browser.ts";
import type { TestUser } from "./make.ts";
import { visitSealing } from "./sealing.ts";

const PATH = "/user/settings/security";

/** An authenticator app with the secret of an account. */
export class Authenticator {
  private readonly totp: TOTP;
  readonly recoveryCodes: readonly string[];

  constructor(secret: string, recoveryCodes: readonly string[] = []) {
    this.totp = new TOTP({ secret });
    this.recoveryCodes = recoveryCodes;
  }

  /**
   * A code that was not used to set up the app: that of the next time step, or of one `steps`
   * later. It stays valid when a step ends in the meantime.
   */
  code(steps = 0): string {
    return this.totp.generate({ timestamp: Date.now() + (steps + 1) * 30_000 });
  }
}

/** Sets up an authenticator app by the pages, in a browser that is signed in. */
export async function enrol(browser: Browser, user: TestUser): Promise<Authenticator> {
  const start = `${PATH}/two_factor/start`;
  await browser.submit(PATH, { current_password: user.password }, start);
  const enrolment = `${PATH}/two_factor/enroll`;
  const page = String((await browser.get(enrolment)).body);
  const secret = /class="secret">([A-Z2-7]{32})</.exec(page)?.[1] ?? "";
  const code = new Authenticator(secret).code(-1);
  const { body } = await browser.submit(enrolment, { passcode: code });
  const codes = [...String(body).matchAll(/<code>([a-z0-9-]{19})<\/code>/g)];
  return new Authenticator(
    secret,
    codes.map((match) => match[1] ?? ""),
  );
}

/** A user with an authenticator app, and a browser in which they are signed in. */
export async function enrolled(user: TestUser) {
  const browser = await Browser.signedIn(user, visitSealing);
  const app = await enrol(browser, user);
  only(app.recoveryCodes.slice(0, 1));
  return { browser, app };
}
