"""Records of `umber.core.special`."""

import math

from arrays import COMPLEX, FLOATS, INTEGERS, REAL
from domains import ABOVE_ONE, POSITIVE, PROBABILITY, Domain
from op_table import OpRecord, op
from scipy import special

from records.elementwise import arithmetic, smooth, unary

# SciPy's values at infinities and extremes are tested one by one, in `test_special_module.py`.
REAL_ONLY = {"dtypes": REAL, "refuses": COMPLEX, "specials": False}


def of_one(name, oracle, **options) -> OpRecord:
    """A function of one real array."""
    return smooth(f"special.{name}", oracle, **REAL_ONLY | options)


def of_two(name, oracle, **options) -> OpRecord:
    """A function of two real arrays."""
    return arithmetic(f"special.{name}", oracle, **{"result": "inexact"} | REAL_ONLY | options)


def of_order(name, order, oracle, domain=POSITIVE) -> OpRecord:
    """A function of an order and an array, with a fixed order."""
    return of_one(f"{name}[{order}]", lambda x: oracle(order, x), domain=domain).but(
        call=lambda x: op(f"special.{name}")(order, x)
    )


GAMMA = [
    of_one("gamma", special.gamma, domain=POSITIVE),
    of_one("gammasgn", special.gammasgn, domain=Domain(-2.8, -2.2, 1, 9), second_order=False),
    of_one("loggamma", special.loggamma, domain=POSITIVE),
    of_one("factorial", lambda n: special.gamma(n + 1), domain=POSITIVE),
    # Sums of three logarithms.
    of_one(
        "multigammaln[3]",
        lambda a: sum(special.gammaln(a - i / 2) for i in range(3)) + 1.5 * math.log(math.pi),
        domain=Domain(1.3, 4.0, 3, 9),
        dtypes=INTEGERS + FLOATS,
        tolerance=3,
    ).but(call=lambda a: op("special.multigammaln")(a, 3)),
    of_order("polygamma", 0, special.polygamma),
    of_order("polygamma", 1, special.polygamma),
    of_order("polygamma", 4, special.polygamma, ABOVE_ONE),
    # For a zero `s`, SciPy has no continuation to Riemann's function at `q = 1`.
    of_two("zeta[Hurwitz]", special.zeta, domain=(ABOVE_ONE, POSITIVE)).but(
        dtypes=INTEGERS + FLOATS, differentiable=(1,)
    ),
    unary("special.zeta[Riemann]", special.zeta, result="inexact", domain=POSITIVE, **REAL_ONLY),
    of_two("gammainc", special.gammainc, domain=POSITIVE, differentiable=(1,)),
    of_two("gammaincc", special.gammaincc, domain=POSITIVE, differentiable=(1,)),
    of_two("beta", special.beta, domain=POSITIVE),
    of_two("betaln", special.betaln, domain=POSITIVE),
    of_two("betainc", special.betainc, domain=(POSITIVE, POSITIVE, PROBABILITY)).but(
        shapes=((3, 4),) * 3,
        empty=((0, 4), (1, 4), ()),
        scalar=((), (), ()),
        long=((3, 347),) * 3,
        differentiable=(2,),
    ),
    # The values at non-integers go through the beta function.
    of_two("comb", special.comb, domain=(Domain(4.2, 6.0, 4, 9), POSITIVE), tolerance=4),
]

NORMAL = [
    of_one("erfcx", special.erfcx),
    of_one("erfcinv", special.erfcinv, domain=PROBABILITY, tolerance=4),
    of_one("ndtr", special.ndtr),
    of_one("log_ndtr", special.log_ndtr),
    of_one("ndtri", special.ndtri, domain=PROBABILITY, tolerance=4),
]

ENTROPY = [
    of_one("logit", special.logit, domain=PROBABILITY),
    of_one("log_expit", special.log_expit),
    of_one("entr", special.entr, domain=POSITIVE),
    of_two("rel_entr", special.rel_entr, domain=POSITIVE),
    of_two("kl_div", special.kl_div, domain=POSITIVE),
    of_two("xlogy", special.xlogy, domain=POSITIVE),
    of_two("xlog1py", special.xlog1py, domain=POSITIVE),
]

INTEGRALS = [
    of_one("expi", special.expi, domain=POSITIVE),
    of_one("exp1", special.exp1, domain=POSITIVE),
    of_one("spence", special.spence, domain=POSITIVE),
    of_order("expn", 1, special.expn),
    of_order("expn", 3, special.expn),
]

RECORDS = [*GAMMA, *NORMAL, *ENTROPY, *INTEGRALS]
