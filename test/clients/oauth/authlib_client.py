"""The code flow with PKCE by Authlib: prints an address, reads the one to which its user was led, and prints what came.

Lines on standard output are JSON: first {"address"}, then {"subject", "claims", "refreshed", "status", "revoked"}.
"""
import json, os, sys

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the service under test has no TLS
service, client_id, client_secret, callback = sys.argv[1:]

session = OAuth2Session(
    client_id,
    client_secret,
    scope="openid profile read:user",
    redirect_uri=callback,
    code_challenge_method="S256",
    token_endpoint_auth_method="client_secret_basic",
    revocation_endpoint_auth_method="client_secret_basic",
)
metadata = session.get(f"{service}/.well-known/openid-configuration", withhold_token=True).json()
verifier = generate_token(48)
address, state = session.create_authorization_url(
    metadata["authorization_endpoint"], code_verifier=verifier, nonce="n-1"
)
print(json.dumps({"address": address}), flush=True)

answer = sys.stdin.readline().strip()
token = session.fetch_token(
    metadata["token_endpoint"], authorization_response=answer, state=state, code_verifier=verifier
)
keys = JsonWebKey.import_key_set(session.get(metadata["jwks_uri"], withhold_token=True).json())
claims = jwt.decode(token["id_token"], keys)
claims.validate()
subject = session.get(metadata["userinfo_endpoint"]).json()["sub"]

refreshed = session.refresh_token(metadata["token_endpoint"])
status = session.get(f"{service}/api/v1/user").status_code
session.revoke_token(metadata["revocation_endpoint"], refreshed["refresh_token"])
after = session.get(f"{service}/api/v1/user").status_code
print(
    json.dumps(
        {
            "subject": subject,
            "claims": {name: claims[name] for name in ("iss", "aud", "sub", "nonce")},
            "refreshed": refreshed["access_token"] != token["access_token"],
            "status": status,
            "revoked": after,
        }
    )
)
