"""Records of `umber.core.special`."""

import math

from arrays import COMPLEX, FLOATS, INTEGERS, REAL
from domains import ABOVE_ONE, POSITIVE, PROBABILITY, Domain
from op_table import OpRecord, op
from scipy import special

from records.elementwise import arithmetic, smooth

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


def by_parameters(name, oracle, variables, **options) -> list[OpRecord]:
    """A function of parameters and variables, which alone have second derivatives."""
    both = of_two(name, oracle, **options)
    both = both.but(differentiable=tuple(range(both.arity)), second_order=False)
    return [
        both,
        both.but(name=f"{both.name}[variable]", differentiable=variables, second_order=True),
    ]


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
        dtypes=INTEGERS + FLOATS, second_order=False
    ),
    of_two("zeta[Hurwitz, variable]", special.zeta, domain=(ABOVE_ONE, POSITIVE)).but(
        dtypes=INTEGERS + FLOATS, differentiable=(1,)
    ),
    of_one("zeta[Riemann]", special.zeta, domain=ABOVE_ONE, second_order=False),
    *by_parameters("gammainc", special.gammainc, (1,), domain=POSITIVE),
    *by_parameters("gammaincc", special.gammaincc, (1,), domain=POSITIVE),
    *by_parameters("gammaincinv", special.gammaincinv, (1,), domain=(POSITIVE, PROBABILITY)),
    *by_parameters("gammainccinv", special.gammainccinv, (1,), domain=(POSITIVE, PROBABILITY)),
    of_two("beta", special.beta, domain=POSITIVE),
    of_two("betaln", special.betaln, domain=POSITIVE),
    *by_parameters(
        "betainc",
        special.betainc,
        (2,),
        domain=(POSITIVE, POSITIVE, PROBABILITY),
        shapes=((3, 4),) * 3,
        empty=((0, 4), (1, 4), ()),
        scalar=((), (), ()),
        long=((3, 347),) * 3,
    ),
    # The values at non-integers go through the beta function.
    of_two("comb", special.comb, domain=(Domain(4.2, 6.0, 4, 9), POSITIVE), tolerance=4),
]

BESSEL = [
    of_one("j0", special.j0),
    of_one("j1", special.j1),
    of_one("y0", special.y0, domain=POSITIVE),
    of_one("y1", special.y1, domain=POSITIVE),
    of_one("k0", special.k0, domain=POSITIVE),
    of_one("k0e", special.k0e, domain=POSITIVE),
    of_one("k1", special.k1, domain=POSITIVE),
    of_one("k1e", special.k1e, domain=POSITIVE),
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

RECORDS = [*GAMMA, *BESSEL, *NORMAL, *ENTROPY, *INTEGRALS]
