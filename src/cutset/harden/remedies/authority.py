"""Which APIs decide who may do what: no older answer, and no empty one, may stand for theirs.

Told from names, by words and not by letters, and from what was seen. On the side of caution: a check that is none only
loses the advice to repeat an old answer, while a password check that goes on saying yes lets in who must stay out.
"""

import re

from cutset.model.point import Point

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DECIDING = re.compile(
    r"(access|acl|allow|assert|auth[nz]?|authenti(cate|cation)|authori[sz](e|ation)|captcha|certificate|check|consent"
    r"|credential|csrf|entitle(ment)?|fraud|grant|iam|identity|impersonate|introspect|jwks?|jwt|kyc|ldap|log(in|on|out)"
    r"|mfa|nonce|oauth|oidc|otp|pass(code|key|phrase|wd|word)|permi(t|ssion)|pin|polic(y|ies)|principal|privilege"
    r"|revoke|role|saml|secret|session|sign(in|on|out|up|ature)?|sso|token|totp|trust|userinfo|valid(ate|ation)"
    r"|verif(y|ied|ies|ication)|whoami)(s|d|ed|r)?",
    re.IGNORECASE,
)


def decides_who_may(site: Point, *, proved: bool = False) -> str:
    """Why its answers may depend on who asks, or decide what they may do; empty if nothing says so.

    `proved`: its calls were seen to carry credentials, or to be of a user.
    """
    if proved:
        return "its calls were seen to carry credentials or the name of a user, so that answers are one user's own"
    for what, name in (("API", site.api), ("service", site.service)):
        if words := [word for word in _WORD.findall(name) if _DECIDING.fullmatch(word)]:
            return f"by the word `{words[0]}` in the name of the {what} it may decide who may do what"
    return ""
